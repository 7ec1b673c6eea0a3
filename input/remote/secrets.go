package remote

import (
	"net/url"
	"strings"
)

// A class is what a parameter of a URL is to those who read the URL.
type class int

const (
	ordinary  class = iota
	stamp           // says when and for how long a URL was signed
	validity        // does so in a URL that is signed, and may be anything in others
	signature       // signs the URL, or names the key that does
	secret          // by its name
)

// classes are the parameters of signed URLs: AWS signatures 4 and 2, Google's, Azure's
// shared access signatures, CloudFront's, Alibaba's, Akamai's.
var classes = map[string]class{
	"x-amz-date": stamp, "x-amz-expires": stamp, "x-goog-date": stamp, "x-goog-expires": stamp, "x-oss-date": stamp, "x-oss-expires": stamp,
	"x-amz-signature": signature, "x-amz-credential": signature, "x-amz-security-token": signature,
	"x-goog-signature": signature, "x-goog-credential": signature, "x-goog-security-token": signature,
	"x-oss-signature": signature, "x-oss-credential": signature, "x-oss-security-token": signature,
	"awsaccesskeyid": signature, "googleaccessid": signature, "ossaccesskeyid": signature, "signature": signature,
	"sig": signature, "skoid": signature, "sktid": signature,
	"x-amz-signedheaders": ordinary, "x-goog-signedheaders": ordinary, // names of headers
	"key-pair-id": signature, "policy": signature, "hdnts": signature, "hdnea": signature, "hmac": signature,
	"expires": validity, "expiry": validity, "exp": validity, "st": validity, "se": validity, "skt": validity, "ske": validity,
	"key": secret, "code": secret, "jwt": secret, "sid": secret, "pw": secret, "pwd": secret,
}

// secretWords make a secret of every parameter whose name holds one.
var secretWords = []string{"token", "secret", "passw", "passphrase", "auth", "sign", "credential", "session", "apikey", "api_key", "api-key", "access_key", "accesskey", "private"}

func classify(name string) class {
	if plain, err := url.QueryUnescape(name); err == nil {
		name = plain
	}
	name = strings.ToLower(name)
	if c, ok := classes[name]; ok {
		return c
	}
	for _, word := range secretWords {
		if strings.Contains(name, word) {
			return secret
		}
	}
	return ordinary
}
