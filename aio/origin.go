package aio

// An Origin is the proven origin of bytes that were read. It is [Device], or the type of the file system as mount(8)
// names it, such as "fuse.sshfs" or "tmpfs", or "unknown". It is empty if nothing was read.
type Origin string

// Device is the mounted block device, as opposed to a cache.
const Device Origin = "device"

const unknownOrigin Origin = "unknown"

// And returns the common origin of the bytes of o and p. It is [Device] only if both are.
func (o Origin) And(p Origin) Origin {
	if o == "" || o == Device && p != "" {
		return p
	}
	return o
}

// String returns the origin as the end of a sentence: "from the device".
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
