package remote

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"gopkg.in/ini.v1"
)

// A profile is a named section of the files that the AWS tools share: ~/.aws/config (or
// AWS_CONFIG_FILE) and ~/.aws/credentials (AWS_SHARED_CREDENTIALS_FILE), whose keys win.
//
// https://docs.aws.amazon.com/sdkref/latest/guide/file-format.html
type profile struct {
	name   string
	values map[string]string // "s3.KEY": of its s3 block, or of that of its services section
	config string            // the config file, where an SSO session is described
}

// maxProfiles bounds the files: they are written by people.
const maxProfiles = 1 << 20 // bytes

// readProfile reads the profile that a flag or AWS_PROFILE names, else the default one. Missing files
// are empty ones; a profile that is named and missing is an error.
func readProfile(opts Options) (profile, error) {
	p := profile{name: opts.S3.Profile, values: map[string]string{}}
	if p.name == "" {
		p.name = opts.env("AWS_PROFILE")
	}
	found := p.name == ""
	if found {
		p.name = "default"
	}
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
		if err != nil && p.name == "default" { // which needs no prefix
			section, err = file.GetSection(p.name)
		}
		if err == nil {
			found = true
			p.take(file, section)
		}
	}
	if !found {
		return profile{}, &Error{Kind: ErrSetting, Err: fmt.Errorf("no file has a profile %q", p.name),
			Hint: "see --s3-profile, AWS_PROFILE, ~/.aws/config"}
	}
	return p, nil
}

// take adds the keys of a section; a pair of keys, and the token with it, moves as one.
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
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxProfiles))
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
