package remote

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/minio/minio-go/v7/pkg/credentials"
)

// s3Creds finds credentials where the AWS tools do, in their order:
//
//	the profile, where a flag names it
//	AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN
//	a web identity: AWS_WEB_IDENTITY_TOKEN_FILE, AWS_ROLE_ARN
//	the profile: keys, or the token that `aws sso login` has left
//	the role of a container: AWS_CONTAINER_CREDENTIALS_RELATIVE_URI, …_FULL_URI
//	the role of the machine, unless AWS_EC2_METADATA_DISABLED is true
//
// No program is started for them (credential_process), and no other role is assumed
// (role_arn of a profile): both are errors that say so. It is a provider of minio-go, which
// asks again when they expire and never twice at once.
type s3Creds struct {
	opts    Options
	profile profile
	client  *http.Client // of the services that give credentials

	renewed credentials.Provider // what gave the credentials that expire; nil: they do not
	machine bool                 // the machine has given some before

	mu      sync.Mutex
	secrets []string // of the credentials in use, which no error may hold
}

// credsPatience bounds one request for credentials. Off Amazon's machines nothing answers
// at the address of the metadata, and the user waits for it.
const credsPatience = 3 * time.Second

// A credsError is a failure to find credentials.
type credsError struct {
	err   error
	hint  string
	again bool // the service that gives them did not answer
}

func (e *credsError) Error() string { return e.err.Error() }
func (e *credsError) Unwrap() error { return e.err }

const hintNoCreds = "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE; --anonymous for a public bucket"

func newS3Creds(opts Options, p profile, hc *http.Client) *s3Creds {
	client := *hc
	client.Timeout = credsPatience
	return &s3Creds{opts: opts, profile: p, client: &client}
}

func (c *s3Creds) Retrieve() (credentials.Value, error) { return c.RetrieveWithCredContext(nil) }

func (c *s3Creds) IsExpired() bool { return c.renewed != nil && c.renewed.IsExpired() }

// RetrieveWithCredContext is called under the lock of minio-go.
func (c *s3Creds) RetrieveWithCredContext(cc *credentials.CredContext) (credentials.Value, error) {
	c.renewed = nil
	value, err := c.find(cc)
	if err != nil {
		return credentials.Value{}, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.secrets = []string{value.SecretAccessKey, value.SessionToken}
	return value, nil
}

// hidden is what no error may hold.
func (c *s3Creds) hidden() []string {
	if c == nil {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.secrets
}

func (c *s3Creds) find(cc *credentials.CredContext) (credentials.Value, error) {
	ctx := context.Background()
	if cc != nil && cc.Context != nil {
		ctx = cc.Context
	}
	cc = &credentials.CredContext{Client: c.client, Context: ctx}

	ways := []func(*credentials.CredContext) (credentials.Value, bool, error){
		c.fromEnv, c.fromWebIdentity, c.fromProfile, c.fromContainer, c.fromMachine,
	}
	if c.opts.S3.Profile != "" {
		ways[0], ways[1], ways[2] = c.fromProfile, c.fromEnv, c.fromWebIdentity
	}
	for _, way := range ways {
		if value, ok, err := way(cc); ok || err != nil {
			return value, err
		}
	}
	return credentials.Value{}, &credsError{err: errors.New("no credentials are found"), hint: hintNoCreds}
}

func (c *s3Creds) fromEnv(*credentials.CredContext) (credentials.Value, bool, error) {
	id, secret := c.opts.env("AWS_ACCESS_KEY_ID"), c.opts.env("AWS_SECRET_ACCESS_KEY")
	switch {
	case id == "" && secret == "":
		return credentials.Value{}, false, nil
	case id == "" || secret == "":
		return credentials.Value{}, false, &credsError{
			err: errors.New("one of AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY is set, the other is not"), hint: "set both"}
	}
	return keys(id, secret, c.opts.env("AWS_SESSION_TOKEN")), true, nil
}

func (c *s3Creds) fromProfile(cc *credentials.CredContext) (credentials.Value, bool, error) {
	none := credentials.Value{}
	refuse := func(hint, problem string) (credentials.Value, bool, error) {
		return none, false, &credsError{
			err: fmt.Errorf("profile %s %s", c.profile.name, problem), hint: hint}
	}
	const export = "run: eval $(aws configure export-credentials --format env)"
	v := c.profile.values
	id, secret := v["aws_access_key_id"], v["aws_secret_access_key"]
	switch {
	case v["role_arn"] != "":
		return refuse(export, "assumes a role, which is not supported")
	case id != "" && secret != "":
		return keys(id, secret, v["aws_session_token"]), true, nil
	case id != "" || secret != "":
		return refuse("it needs both", "has one of aws_access_key_id and aws_secret_access_key")
	case v["sso_role_name"] != "" && c.profile.config != "":
		// The file is named, so that nothing but the session's part of it is used: with
		// sso_role_name and without keys, minio-go never comes to credential_process.
		sso := &credentials.FileAWSCredentials{Filename: c.profile.config, Profile: c.profile.name}
		value, err := sso.RetrieveWithCredContext(cc)
		if err != nil {
			return none, false, &credsError{
				err: errors.New(said(withoutURL(err).Error())), hint: "run: aws sso login", again: isNetwork(err)}
		}
		c.renewed = sso
		return value, true, nil
	case v["credential_process"] != "":
		return refuse(export, "gets its credentials from a program (credential_process), and none is started")
	}
	if c.opts.S3.Profile != "" {
		return refuse(hintNoCreds, "has no credentials")
	}
	return none, false, nil
}

func keys(id, secret, token string) credentials.Value {
	return credentials.Value{
		AccessKeyID: id, SecretAccessKey: secret, SessionToken: token, SignerType: credentials.SignatureV4,
	}
}
