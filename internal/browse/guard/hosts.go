package guard

import (
	"net"
	"net/netip"
	"strconv"
	"strings"
)

// hosts are the names by which a browser may call the server. A page of the name evil.example can make that name mean 127.0.0.1 (DNS
// rebinding), and is then of the server's origin: names that others control are refused. An address cannot be rebound.
type hosts struct {
	loopback bool   // the server listens for this machine alone
	name     string // of this machine
}

// allow reports whether the header Host names this server. Any port will do: `ssh -L` changes it.
func (h hosts) allow(host string) bool {
	name := host
	if strings.HasPrefix(host, "[") || strings.Contains(host, ":") {
		var port string
		var err error
		if strings.HasSuffix(host, "]") {
			host += ":80"
		}
		if name, port, err = net.SplitHostPort(host); err != nil {
			return false
		}
		if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 || strconv.FormatUint(n, 10) != port {
			return false
		}
	}
	bracketed := strings.HasPrefix(host, "[")
	if addr, err := netip.ParseAddr(name); err == nil {
		return addr.Is6() == bracketed && addr.Zone() == "" && (addr.IsLoopback() || !h.loopback)
	}
	if bracketed || strings.EqualFold(name, "localhost") {
		return !bracketed
	}
	short, _, _ := strings.Cut(h.name, ".")
	return !h.loopback && name != "" && (strings.EqualFold(name, h.name) || strings.EqualFold(name, short))
}
