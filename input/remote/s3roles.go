package remote

import (
	"context"
	"errors"
	"fmt"
	"net/url"

	"github.com/minio/minio-go/v7/pkg/credentials"
)

// The roles that a cluster, a container or a machine has. minio-go knows their protocols; it
// looks at the process environment itself, before what it is told here.

func (c *s3Creds) fromWebIdentity(cc *credentials.CredContext) (credentials.Value, bool, error) {
	iam := &credentials.IAM{Client: c.client, Endpoint: c.opts.env("AWS_ENDPOINT_URL_STS")}
	iam.EKSIdentity.TokenFile = c.opts.env("AWS_WEB_IDENTITY_TOKEN_FILE")
	iam.EKSIdentity.RoleARN = c.opts.env("AWS_ROLE_ARN")
	iam.EKSIdentity.RoleSessionName = c.opts.env("AWS_ROLE_SESSION_NAME")
	iam.Region, _ = c.opts.firstEnv("AWS_REGION", "AWS_DEFAULT_REGION")
	if iam.EKSIdentity.TokenFile == "" {
		return credentials.Value{}, false, nil
	}
	return c.role(cc, iam, "the web identity of AWS_WEB_IDENTITY_TOKEN_FILE")
}

func (c *s3Creds) fromContainer(cc *credentials.CredContext) (credentials.Value, bool, error) {
	iam := &credentials.IAM{Client: c.client}
	iam.Container.CredentialsRelativeURI = c.opts.env("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI")
	iam.Container.CredentialsFullURI = c.opts.env("AWS_CONTAINER_CREDENTIALS_FULL_URI")
	// Its token is left to minio-go, which finds it in the process environment: given here, it
	// would be taken for the name of a file, and stand in an error.
	if iam.Container.CredentialsRelativeURI == "" && iam.Container.CredentialsFullURI == "" {
		return credentials.Value{}, false, nil
	}
	return c.role(cc, iam, "the role of this container")
}

// fromMachine asks the address where a machine of Amazon's finds its role. Silence means
// that this is none, and no error, unless it has answered before.
func (c *s3Creds) fromMachine(cc *credentials.CredContext) (credentials.Value, bool, error) {
	if c.opts.flagEnv("AWS_EC2_METADATA_DISABLED") {
		return credentials.Value{}, false, nil
	}
	iam := &credentials.IAM{Client: c.client, Endpoint: c.opts.env("AWS_EC2_METADATA_SERVICE_ENDPOINT")}
	value, ok, err := c.role(cc, iam, "the role of this machine")
	if err != nil && !c.machine {
		return credentials.Value{}, false, context.Cause(cc.Context)
	}
	c.machine = ok
	return value, ok, err
}

func (c *s3Creds) role(cc *credentials.CredContext, iam *credentials.IAM, what string) (credentials.Value, bool, error) {
	value, err := iam.RetrieveWithCredContext(cc)
	if err == nil && (value.AccessKeyID == "" || value.SecretAccessKey == "") {
		err = errors.New("no keys came")
	}
	if err != nil {
		return credentials.Value{}, false, &credsError{
			err: fmt.Errorf("%s: %s", what, said(withoutURL(err).Error())), again: isNetwork(err)}
	}
	c.renewed = iam
	return value, true, nil
}

// isNetwork tells that no answer came from one that is a bad one.
func isNetwork(err error) bool {
	_, ok := errors.AsType[*url.Error](err)
	return ok
}
