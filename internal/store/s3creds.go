package store

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/minio/minio-go/v7/pkg/credentials"
)

// s3Creds finds credentials in the places and the order of the AWS tools:
//
//	the profile, if the options name it
//	AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN
//	a web identity: AWS_WEB_IDENTITY_TOKEN_FILE, AWS_ROLE_ARN
//	the profile: keys, or the token of `aws sso login`
//	the role of a container: AWS_CONTAINER_CREDENTIALS_RELATIVE_URI, …_FULL_URI
//	the role of the machine, unless AWS_EC2_METADATA_DISABLED is true
//
// It implements [credentials.Provider] of minio-go, which has clients for all of these protocols and renews expiring
// credentials in one goroutine at a time. minio-go's chain of providers is not used: it continues after an error, and
// runs the program of credential_process. Here credential_process and role_arn are errors.
type s3Creds struct {
	opts    Options
	profile profile
	client  *http.Client // for requests to services that issue credentials

	renewed credentials.Provider // source of the current credentials; nil: they do not expire
	machine bool                 // the metadata service of the machine has returned credentials before
}

// credsPatience bounds one request for credentials. On other machines than Amazon's the metadata service does
// not reply, and the user waits for the timeout.
const credsPatience = 3 * time.Second

const (
	hintNoCreds = "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE"
	hintExport  = "run: eval $(aws configure export-credentials --format env)"
)

func newS3Creds(opts Options, p profile, hc *http.Client) *s3Creds {
	client := *hc
	client.Timeout = credsPatience
	return &s3Creds{opts: opts, profile: p, client: &client}
}

func (c *s3Creds) Retrieve() (credentials.Value, error) { return c.RetrieveWithCredContext(nil) }

func (c *s3Creds) IsExpired() bool { return c.renewed != nil && c.renewed.IsExpired() }

// RetrieveWithCredContext implements [credentials.Provider]. minio-go serializes calls. Its error is an [*Error].
func (c *s3Creds) RetrieveWithCredContext(cc *credentials.CredContext) (credentials.Value, error) {
	ctx := context.Background()
	if cc != nil && cc.Context != nil {
		ctx = cc.Context
	}
	c.renewed = nil
	ways := []func(*credentials.CredContext) (credentials.Value, error){c.fromEnv, c.fromWebIdentity, c.fromProfile, c.fromRole}
	if c.opts.S3.Profile != "" {
		ways = []func(*credentials.CredContext) (credentials.Value, error){c.fromProfile}
	}
	for _, way := range ways {
		value, err := way(&credentials.CredContext{Client: c.client, Context: ctx})
		if err != nil || value.AccessKeyID != "" {
			return value, err
		}
	}
	err := noCreds(hintNoCreds, "no credentials are found")
	if c.opts.S3.Profile != "" {
		err = noCreds(hintNoCreds, "profile %s has no credentials", c.profile.name)
	}
	err.Hint += "; " + hintAnonymous
	return credentials.Value{}, err
}

func noCreds(hint, format string, args ...any) *Error {
	return &Error{Kind: ErrDenied, Err: fmt.Errorf(format, args...), Hint: hint}
}

func (c *s3Creds) fromEnv(*credentials.CredContext) (credentials.Value, error) {
	id, secret := c.opts.env("AWS_ACCESS_KEY_ID"), c.opts.env("AWS_SECRET_ACCESS_KEY")
	if (id == "") != (secret == "") {
		return credentials.Value{}, noCreds("set both", "one of AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY is set, the other is not")
	}
	return credentials.Value{AccessKeyID: id, SecretAccessKey: secret, SessionToken: c.opts.env("AWS_SESSION_TOKEN")}, nil
}

func (c *s3Creds) fromProfile(cc *credentials.CredContext) (credentials.Value, error) {
	v, name := c.profile.values, c.profile.name
	id, secret := v["aws_access_key_id"], v["aws_secret_access_key"]
	switch {
	case v["role_arn"] != "":
		return credentials.Value{}, noCreds(hintExport, "profile %s assumes a role, which is not supported", name)
	case (id == "") != (secret == ""):
		return credentials.Value{}, noCreds("it needs both", "profile %s has one of aws_access_key_id and aws_secret_access_key", name)
	case id != "":
		return credentials.Value{AccessKeyID: id, SecretAccessKey: secret, SessionToken: v["aws_session_token"]}, nil
	case v["sso_role_name"] != "" && c.profile.config != "":
		// With sso_role_name and without keys, minio-go does not run credential_process.
		return c.retrieve(cc, &credentials.FileAWSCredentials{Filename: c.profile.config, Profile: name}, "profile "+name, "run: aws sso login")
	case v["credential_process"] != "":
		return credentials.Value{}, noCreds(hintExport, "profile %s gets its credentials from a program (credential_process), and none is started", name)
	}
	return credentials.Value{}, nil
}

func (c *s3Creds) fromWebIdentity(cc *credentials.CredContext) (credentials.Value, error) {
	iam := &credentials.IAM{Client: c.client, Endpoint: c.opts.env("AWS_ENDPOINT_URL_STS")}
	iam.EKSIdentity.TokenFile = c.opts.env("AWS_WEB_IDENTITY_TOKEN_FILE")
	iam.EKSIdentity.RoleARN = c.opts.env("AWS_ROLE_ARN")
	iam.EKSIdentity.RoleSessionName = c.opts.env("AWS_ROLE_SESSION_NAME")
	iam.Region, _ = c.opts.firstEnv("AWS_REGION", "AWS_DEFAULT_REGION")
	if iam.EKSIdentity.TokenFile == "" {
		return credentials.Value{}, nil
	}
	return c.retrieve(cc, iam, "the web identity of AWS_WEB_IDENTITY_TOKEN_FILE", "")
}

// fromRole retrieves credentials for the role of the container, or else of the machine. A metadata service that does
// not reply is an error only if it has replied before; otherwise this is not a machine of Amazon.
func (c *s3Creds) fromRole(cc *credentials.CredContext) (credentials.Value, error) {
	iam := &credentials.IAM{Client: c.client}
	// minio-go finds the container's token in the process environment. Given here, it would be opened as a
	// file, and printed in an error.
	iam.Container.CredentialsRelativeURI = c.opts.env("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI")
	iam.Container.CredentialsFullURI = c.opts.env("AWS_CONTAINER_CREDENTIALS_FULL_URI")
	if iam.Container.CredentialsRelativeURI != "" || iam.Container.CredentialsFullURI != "" {
		return c.retrieve(cc, iam, "the role of this container", "")
	}
	if c.opts.flagEnv("AWS_EC2_METADATA_DISABLED") {
		return credentials.Value{}, nil
	}
	iam.Endpoint = c.opts.env("AWS_EC2_METADATA_SERVICE_ENDPOINT")
	value, err := c.retrieve(cc, iam, "the role of this machine", "")
	if err != nil && !c.machine {
		return credentials.Value{}, context.Cause(cc.Context)
	}
	c.machine = err == nil
	return value, err
}

// retrieve gets expiring credentials from a provider. It allows a retry after an error of the network.
func (c *s3Creds) retrieve(cc *credentials.CredContext, p credentials.Provider, what, hint string) (credentials.Value, error) {
	value, err := p.RetrieveWithCredContext(cc)
	if err == nil && (value.AccessKeyID == "" || value.SecretAccessKey == "") {
		err = errors.New("no keys came")
	}
	if err != nil {
		e := noCreds(hint, "%s: %s", what, serviceText(withoutURL(err).Error()))
		if _, e.Again = errors.AsType[*url.Error](err); e.Again {
			e.Kind = ErrUnavailable
		}
		return credentials.Value{}, e
	}
	c.renewed = p
	return value, nil
}
