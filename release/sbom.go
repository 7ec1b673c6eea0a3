package main

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"time"

	cdx "github.com/CycloneDX/cyclonedx-go"
)

// writeSBOM writes what a program is made of, as CycloneDX 1.6. Nothing in it depends on the time or on the machine.
func (r *release) writeSBOM(name, program string, modules []*module) error {
	binary, err := os.ReadFile(program)
	if err != nil {
		return err
	}
	sum := sha256.Sum256(binary)
	self := "pkg:golang/github.com/ffconvert/ffconvert@" + r.version
	bom := cdx.NewBOM()
	bom.SerialNumber = "urn:uuid:" + uuid(sum)
	bom.Metadata = &cdx.Metadata{
		Timestamp: r.source.time.Format(time.RFC3339),
		Component: &cdx.Component{
			BOMRef: self, Type: cdx.ComponentTypeApplication, Name: "ffconvert", Version: r.version, PackageURL: self, Description: summary,
			Hashes:             &[]cdx.Hash{{Algorithm: cdx.HashAlgoSHA256, Value: hex.EncodeToString(sum[:])}}, // of the program
			Licenses:           licenceChoices([]string{"Apache-2.0"}),
			ExternalReferences: &[]cdx.ExternalReference{{Type: cdx.ERTypeVCS, URL: home, Comment: "commit " + r.source.commit}},
		},
	}
	var components []cdx.Component
	var refs []string
	for _, m := range modules {
		c := cdx.Component{BOMRef: m.purl, Type: cdx.ComponentTypeLibrary, Name: m.path, Version: m.version, PackageURL: m.purl, Licenses: licenceChoices(m.ids())}
		if m.sum != "" {
			c.Properties = &[]cdx.Property{{Name: "go.sum", Value: m.sum}}
		}
		components, refs = append(components, c), append(refs, m.purl)
	}
	bom.Components = &components
	bom.Dependencies = &[]cdx.Dependency{{Ref: self, Dependencies: &refs}}
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	if err := cdx.NewBOMEncoder(f, cdx.BOMFileFormatJSON).SetPretty(true).EncodeVersion(bom, cdx.SpecVersion1_6); err != nil {
		f.Close()
		return err
	}
	return f.Close()
}

// licenceChoices returns licences by their names in SPDX.
func licenceChoices(ids []string) *cdx.Licenses {
	var all cdx.Licenses
	for _, id := range ids {
		all = append(all, cdx.LicenseChoice{License: &cdx.License{ID: id}})
	}
	return &all
}

// uuid returns a UUID of version 8 (RFC 9562): bits of a checksum.
func uuid(sum [sha256.Size]byte) string {
	u := sum[:16]
	u[6], u[8] = u[6]&0x0f|0x80, u[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", u[:4], u[4:6], u[6:8], u[8:10], u[10:])
}
