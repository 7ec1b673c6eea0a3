package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/ffconvert/ffconvert/internal/option"
)

// The manual has a page for each command, with every word of its help, every flag, and the exit
// statuses, which the help of some leaves out.
func TestManPages(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if _, err := executeQuietly(t, "man "+dir); err != nil {
		t.Fatal(err)
	}
	roff := strings.NewReplacer(`\-`, "-", `\&`, "", `\\`, `\`, `\e`, `\`, `\fB`, "", `\fP`, "", `\fI`, "", `\fR`, "", `\(aq`, "'", `\[dq]`, `"`)
	plain := func(text string) string { return strings.Join(strings.Fields(text), " ") }
	n := 0
	commands(func(c *cobra.Command) {
		if c.Name() == "help" {
			return
		}
		n++
		page, err := os.ReadFile(filepath.Join(dir, strings.ReplaceAll(c.CommandPath(), " ", "-")+".1"))
		if err != nil {
			t.Fatal(err)
		}
		text := plain(roff.Replace(string(page)))
		if !strings.Contains(text, "EXIT STATUS") {
			t.Errorf("%s: no exit statuses", c.CommandPath())
		}
		for _, said := range []string{c.Long, c.Example} {
			for _, paragraph := range strings.Split(said, "\n") {
				if want := plain(paragraph); !strings.Contains(text, want) {
					t.Errorf("%s: the page does not say %q", c.CommandPath(), want)
				}
			}
		}
		flag := func(f *pflag.Flag) {
			shown := !f.Hidden || option.Flag(f.Name) != "--"+f.Name
			if !f.Hidden && !strings.Contains(text, "--"+f.Name) || shown && !strings.Contains(text, plain(f.Usage)) {
				t.Errorf("%s: the page does not have --%s: %s", c.CommandPath(), f.Name, f.Usage)
			}
		}
		c.LocalFlags().VisitAll(flag)
		c.InheritedFlags().VisitAll(flag)
	})
	if n < 30 {
		t.Errorf("%d pages", n)
	}
}
