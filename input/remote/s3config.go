package remote

import (
	"cmp"
	"fmt"
	"net/url"
	"strings"
)

// An s3Config is how S3 is reached: what flags say, what they leave open the environment,
// then the profile.
type s3Config struct {
	host      string // host or host:port
	secure    bool   // https
	amazon    bool   // Amazon's own endpoint
	region    string // "": the bucket's own, which the service is asked for
	pathStyle bool   // host/bucket/key in place of bucket.host/key
	profile   profile
}

// amazonHost is the endpoint from which minio-go derives those of the regions.
const amazonHost = "s3.amazonaws.com"

func readS3Config(opts Options) (s3Config, error) {
	var c s3Config
	var err error
	if c.profile, err = readProfile(opts); err != nil {
		return s3Config{}, err
	}
	if err := c.takeEndpoint(opts); err != nil {
		return s3Config{}, err
	}
	env, _ := opts.firstEnv("AWS_REGION", "AWS_DEFAULT_REGION")
	c.region = cmp.Or(opts.S3.Region, env, c.profile.values["region"])
	if strings.ContainsAny(c.region, " /:@?#") {
		return s3Config{}, &Error{Kind: ErrSetting, Err: fmt.Errorf("%q is not a region", c.region),
			Hint: "as in us-east-1; see --s3-region, AWS_REGION"}
	}

	style := cmp.Or(opts.S3.PathStyle, c.profile.style)
	switch style {
	case "path":
		c.pathStyle = true
	case "host", "virtual":
	case "", "auto":
		c.pathStyle = !c.amazon
	default:
		return s3Config{}, &Error{Kind: ErrSetting, Err: fmt.Errorf("%q is not a way to name a bucket", style),
			Hint: "path or host"}
	}
	return c, nil
}

// takeEndpoint finds the endpoint. One without a scheme is https.
func (c *s3Config) takeEndpoint(opts Options) error {
	endpoint, from := opts.S3.Endpoint, "--s3-endpoint"
	if endpoint == "" && !opts.flagEnv("AWS_IGNORE_CONFIGURED_ENDPOINT_URLS") {
		endpoint, from = opts.firstEnv("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL")
		if endpoint == "" {
			endpoint, from = c.profile.endpoint, "the endpoint of profile "+c.profile.name
		}
	}
	if endpoint == "" {
		c.host, c.secure, c.amazon = amazonHost, true, true
		return nil
	}
	// The value is not printed: it may hold a password.
	bad := func(problem string) error {
		return &Error{Kind: ErrSetting, Err: fmt.Errorf("%s %s", from, problem), Hint: "as in https://host:port"}
	}
	if !strings.Contains(endpoint, "://") {
		endpoint = "https://" + endpoint
	}
	u, err := url.Parse(endpoint)
	switch {
	case err != nil || u.Host == "":
		return bad("is not a URL")
	case u.Scheme != "http" && u.Scheme != "https":
		return bad("is neither http nor https")
	case u.User != nil:
		return bad("holds a user: credentials come from the environment and from profiles")
	case strings.Trim(u.Path, "/") != "" || u.RawQuery != "" || u.Fragment != "":
		return bad("has a path: the bucket comes from the URL s3://bucket/key")
	}
	c.host, c.secure = u.Host, u.Scheme == "https"
	c.amazon = isAmazon(u.Hostname())
	return nil
}

// isAmazon tells Amazon's endpoints, which name a bucket in the host.
func isAmazon(host string) bool {
	return strings.HasSuffix(host, ".amazonaws.com") || strings.HasSuffix(host, ".amazonaws.com.cn")
}
