// Package crcline writes and reads the lines of plans and journals: the CRC-32 of a text in eight
// hexadecimal digits, a space, and the text, which is JSON.
package crcline
