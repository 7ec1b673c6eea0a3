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
	name     string
	asked    bool // named by a flag or by AWS_PROFILE: its absence is an error
	values   map[string]string
	endpoint string // of its services section for s3, else endpoint_url
	style    string // addressing_style of its s3 block
	config   string // the config file, where an SSO session is described
}

// maxProfiles bounds the files: they are written by people.
const maxProfiles = 1 << 20 // bytes

// readProfile reads the profile that a flag, AWS_PROFILE or nobody has named. Missing files
// are empty ones.
func readProfile(opts Options) (profile, error) {
	p := profile{name: opts.S3.Profile, values: map[string]string{}}
	if p.name == "" {
		p.name = opts.env("AWS_PROFILE")
	}
	p.asked = p.name != ""
	if !p.asked {
		p.name = "default"
	}

	found := false
	for _, f := range []struct{ env, base, prefix string }{
		{"AWS_CONFIG_FILE", "config", "profile "},
		{"AWS_SHARED_CREDENTIALS_FILE", "credentials", ""},
	} {
		path := opts.env(f.env)
		if path == "" {
			if opts.home() == "" {
				continue
			}
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
		section := sectionOf(file, f.prefix, p.name)
		if section == nil {
			continue
		}
		found = true
		p.take(file, section)
	}
	if p.asked && !found {
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
	if style := nested(section, "s3")["addressing_style"]; style != "" {
		p.style = style
	}
	if url := p.values["endpoint_url"]; url != "" {
		p.endpoint = url
	}
	if services := p.values["services"]; services != "" {
		if s := sectionOf(file, "services ", services); s != nil {
			if url := nested(s, "s3")["endpoint_url"]; url != "" {
				p.endpoint = url
			}
		}
	}
}

// nested reads the indented lines below a key that has no value of its own.
func nested(section *ini.Section, name string) map[string]string {
	values := map[string]string{}
	if !section.HasKey(name) {
		return values
	}
	for _, line := range section.Key(name).NestedValues() {
		if k, v, ok := strings.Cut(line, "="); ok {
			values[strings.TrimSpace(k)] = strings.TrimSpace(v)
		}
	}
	return values
}

// sectionOf finds a section by its name. The default profile needs no prefix.
func sectionOf(file *ini.File, prefix, name string) *ini.Section {
	for _, title := range []string{prefix + name, name} {
		if title == name && prefix != "" && name != "default" {
			break
		}
		if file.HasSection(title) {
			return file.Section(title)
		}
	}
	return nil
}

func loadProfiles(path string) (*ini.File, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxProfiles+1))
	if err != nil {
		return nil, err
	}
	if len(text) > maxProfiles {
		return nil, &Error{Kind: ErrSetting, Err: fmt.Errorf("%s is larger than a file of profiles is", path)}
	}
	file, err := ini.LoadSources(ini.LoadOptions{
		AllowNestedValues:        true, // the indented lines of s3 =
		SpaceBeforeInlineComment: true, // a secret may hold a #
		IgnoreContinuation:       true,
		SkipUnrecognizableLines:  false,
	}, text)
	if err != nil {
		// The parser's error quotes the line, which may be a secret.
		return nil, &Error{Kind: ErrSetting, Err: fmt.Errorf("%s is not a file of profiles", path),
			Hint: "sections in brackets, lines of key = value"}
	}
	return file, nil
}
