package files

import "os"

// SyncDir does nothing: Windows refuses to flush a directory, and has no other call. NTFS keeps names in a
// journal of its own, whose last entries may be lost with the power.
func SyncDir(*os.Root, string) error { return nil }
