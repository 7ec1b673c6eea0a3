package store

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"path/filepath"
	"strings"

	"github.com/minio/minio-go/v7/pkg/s3utils"
	"gopkg.in/ini.v1"
)

// An s3Config is the resolved configuration of S3. Options override the environment, which overrides the
// profile.
type s3Config struct {
	host      string // host or host:port
	secure    bool   // https
	region    string // "": the region of the bucket, which errors of the service name
	pathStyle bool   // host/bucket/key in place of bucket.host/key
	dualstack bool   // use Amazon's endpoints with IPv4 and IPv6
}

// amazonHost stands for the endpoints of all of Amazon's regions.
const amazonHost = "s3.amazonaws.com"

func newS3Config(opts Options, p profile) (s3Config, error) {
	c := s3Config{dualstack: opts.flagEnv("AWS_USE_DUALSTACK_ENDPOINT")}
	endpoint, err := s3Endpoint(opts, p)
	if err != nil {
		return s3Config{}, err
	}
	c.host, c.secure = endpoint.Host, endpoint.Scheme == "https"
	env, _ := opts.firstEnv("AWS_REGION", "AWS_DEFAULT_REGION")
	c.region = cmp.Or(opts.S3.Region, env, p.values["region"], s3utils.GetRegionFromURL(*endpoint))
	if strings.ContainsAny(c.region, " /:@?#") {
		return s3Config{}, &Error{Kind: ErrSetting, Err: fmt.Errorf("%q is not a region, as us-east-1 is", c.region), Hint: hintRegion}
	}

	switch style := cmp.Or(opts.S3.PathStyle, p.values["s3.addressing_style"]); style {
	case "path":
		c.pathStyle = true
	case "host", "virtual":
	case "", "auto":
		c.pathStyle = !isAmazon(endpoint.Hostname())
	default:
		return s3Config{}, &Error{Kind: ErrSetting, Err: fmt.Errorf("%q is not a way to name a bucket", style),
			Hint: "path or host"}
	}
	return c, nil
}

// s3Endpoint returns the endpoint. An endpoint without a scheme must contain a port or a dot, so that a mistyped
// word is not taken for a host.
func s3Endpoint(opts Options, p profile) (*url.URL, error) {
	endpoint, from := opts.S3.Endpoint, "the S3 endpoint"
	if endpoint == "" && !opts.flagEnv("AWS_IGNORE_CONFIGURED_ENDPOINT_URLS") {
		endpoint, from = opts.firstEnv("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL")
		if endpoint == "" {
			endpoint, from = cmp.Or(p.values["s3.endpoint_url"], p.values["endpoint_url"]), "the endpoint of profile "+p.name
		}
	}
	u, err := readEndpoint(from, cmp.Or(endpoint, amazonHost), "https", "https://host:port")
	switch {
	case err != nil:
		return nil, err
	case !strings.ContainsAny(u.Host, ".:") && !strings.Contains(endpoint, "://"):
		return nil, notEndpoint(from, "is not a URL", "https://host:port")
	case strings.Trim(u.Path, "/") != "":
		return nil, &Error{Kind: ErrSetting, Err: fmt.Errorf("%s has a path", from), Hint: "the bucket comes from the URL s3://bucket/key"}
	}
	return u, nil
}

// isAmazon reports whether a host is an endpoint of Amazon, where bucket.host names a bucket.
func isAmazon(host string) bool {
	return strings.HasSuffix(host, ".amazonaws.com") || strings.HasSuffix(host, ".amazonaws.com.cn")
}

// regionOf returns the region to sign for. found is the region of the bucket, if an error of the service has named it.
func (c s3Config) regionOf(found string) string { return cmp.Or(c.region, found, "us-east-1") }

// address returns the URL of an object, or of the bucket if key is "".
func (c s3Config) address(region, bucket, key string, query url.Values) string {
	u := url.URL{Scheme: "http", Host: c.host, Path: "/" + key, RawPath: "/" + s3utils.EncodePath(key), RawQuery: query.Encode()}
	if c.secure {
		u.Scheme = "https"
	}
	if c.host == amazonHost {
		stack, domain := "", "amazonaws.com"
		if c.dualstack {
			stack = "dualstack."
		}
		if strings.HasPrefix(region, "cn-") {
			domain = "amazonaws.com.cn"
		}
		u.Host = "s3." + stack + region + "." + domain
	}
	// A certificate for *.host does not cover a bucket name with dots.
	if c.pathStyle || c.secure && isAmazon(u.Hostname()) && strings.Contains(bucket, ".") {
		u.Path, u.RawPath = "/"+bucket+u.Path, "/"+bucket+u.RawPath
	} else {
		u.Host = bucket + "." + u.Host
	}
	return u.String()
}

// A profile is a named section of the files that the AWS tools share: ~/.aws/config (or
// AWS_CONFIG_FILE) and ~/.aws/credentials (AWS_SHARED_CREDENTIALS_FILE), which overrides the first.
//
// https://docs.aws.amazon.com/sdkref/latest/guide/file-format.html
type profile struct {
	name   string
	values map[string]string // by key; "s3.KEY" for a key in the s3 block of the profile or of its services section
	config string            // path of the config file, which describes the SSO session
}

// maxProfiles caps the size of each file. People write them by hand.
const maxProfiles = 1 << 20 // bytes

// readProfile reads the profile that the options or AWS_PROFILE name, or the default profile. It ignores missing
// files; a named profile that no file has is an error.
func readProfile(opts Options) (profile, error) {
	named := cmp.Or(opts.S3.Profile, opts.env("AWS_PROFILE"))
	p := profile{name: cmp.Or(named, "default"), values: map[string]string{}}
	found := named == ""
	for _, f := range []struct{ env, base, prefix string }{
		{"AWS_CONFIG_FILE", "config", "profile "},
		{"AWS_SHARED_CREDENTIALS_FILE", "credentials", ""},
	} {
		path := opts.env(f.env)
		if path == "" && opts.home() != "" {
			path = filepath.Join(opts.home(), ".aws", f.base)
		}
		file, err := loadProfiles(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return profile{}, err
		}
		if f.base == "config" {
			p.config = path
		}
		section, err := file.GetSection(f.prefix + p.name)
		if err != nil && p.name == "default" { // [default] has no prefix
			section, err = file.GetSection(p.name)
		}
		if err == nil {
			found = true
			p.take(file, section)
		}
	}
	if !found {
		return profile{}, &Error{Kind: ErrSetting, Err: fmt.Errorf("no file has a profile %q", p.name), Hint: "see option s3-profile, AWS_PROFILE, ~/.aws/config"}
	}
	return p, nil
}

// take adds the keys of a section. A pair of access keys also removes an earlier session token.
func (p *profile) take(file *ini.File, section *ini.Section) {
	if section.HasKey("aws_access_key_id") && section.HasKey("aws_secret_access_key") {
		delete(p.values, "aws_session_token")
	}
	for _, key := range section.Keys() {
		p.values[key.Name()] = key.Value()
	}
	p.takeS3(section)
	if services, err := file.GetSection("services " + p.values["services"]); err == nil {
		p.takeS3(services)
	}
}

// takeS3 adds the indented lines below "s3 =".
func (p *profile) takeS3(section *ini.Section) {
	if !section.HasKey("s3") {
		return
	}
	for _, line := range section.Key("s3").NestedValues() {
		if k, v, ok := strings.Cut(line, "="); ok {
			p.values["s3."+strings.TrimSpace(k)] = strings.TrimSpace(v)
		}
	}
}

func loadProfiles(path string) (*ini.File, error) {
	text, err := readFile(path, maxProfiles)
	if err != nil {
		return nil, err
	}
	file, err := ini.LoadSources(ini.LoadOptions{
		AllowNestedValues:        true, // the indented lines of s3 =
		SpaceBeforeInlineComment: true, // a secret may hold a #
		IgnoreContinuation:       true,
	}, text)
	if err != nil || len(text) == maxProfiles {
		// The parser's error quotes the line, which may be a secret.
		return nil, &Error{Kind: ErrSetting, Err: fmt.Errorf("%s is not a file of profiles", path),
			Hint: "sections in brackets, lines of key = value"}
	}
	return file, nil
}
