package aio

// An Origin says where the bytes of files came from, as far as that was proven. It is [Device],
// or the type of the file system that served them as mount(8) names it, such as "fuse.sshfs" or
// "tmpfs"; "unknown" where the system does not tell. Empty: nothing was read.
type Origin string

// Device is what the file system keeps its bytes on: the block device that is mounted.
const Device Origin = "device"

const unknownOrigin Origin = "unknown"

// And returns the origin of the bytes of o and p together: [Device] only where both have it.
func (o Origin) And(p Origin) Origin {
	if o == "" || o == Device && p != "" {
		return p
	}
	return o
}

// String returns the end of a sentence about what was read: "from the device".
func (o Origin) String() string {
	switch o {
	case "":
		return ""
	case Device:
		return "from the device"
	case unknownOrigin:
		return "as an unknown file system serves it, the device is not proven"
	}
	return "as " + string(o) + " serves it, the device is not proven"
}
