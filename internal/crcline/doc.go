// Package crcline writes and reads lines with a checksum, as plans and journals have them. A line is
// the CRC-32 of a text in eight hexadecimal digits, a space, and the text, which is JSON.
package crcline
