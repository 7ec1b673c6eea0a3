package cliflag

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/ffconvert/ffconvert/aio"
	"github.com/ffconvert/ffconvert/cmd/ffconvert/internal/terminal"
	"github.com/ffconvert/ffconvert/encode"
	"github.com/ffconvert/ffconvert/internal/option"
)

// choices returns the words that a flag accepts; nil if it is not limited to a few words.
func choices(f *pflag.Flag) []string {
	switch v := f.Value.(type) {
	case *option.Choice:
		return v.Words
	case *terminal.Progress:
		return v.Words
	case *option.Option:
		return v.Words()
	case *aio.Backend:
		return []string{aio.Auto.String(), aio.AIO.String(), aio.Pread.String()}
	}
	return nil
}

// completeFlags registers the completion of flag values of cmd and all its subcommands.
func completeFlags(cmd *cobra.Command) {
	cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
		// The only error: the completion of a flag that two commands share is registered already.
		_ = cmd.RegisterFlagCompletionFunc(f.Name, func(_ *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
			words, how := completionsOf(f)
			v, ok := f.Value.(*merged)
			if !ok {
				return words, how
			}
			if name, _, ok := strings.Cut(typed, "="); ok && v.members[name] != "" {
				words, how = completionsOf(v.flags.Lookup(v.members[name]))
				for i := range words {
					words[i] = name + "=" + words[i]
				}
				return words, how
			}
			for _, name := range v.names {
				words = append(words, name+"=")
			}
			return words, how | cobra.ShellCompDirectiveNoSpace
		})
	})
	for _, c := range cmd.Commands() {
		completeFlags(c)
	}
}

// completionsOf returns the values of a flag by itself.
func completionsOf(f *pflag.Flag) (words []string, how cobra.ShellCompDirective) {
	words, how = slices.Clone(choices(f)), cobra.ShellCompDirectiveNoFileComp
	switch f.Name {
	case "encode":
		for _, line := range encode.Names() {
			name, help, _ := strings.Cut(line, ": ")
			words = append(words, cobra.CompletionWithDesc(name, help))
		}
	case "dtype":
		words = []string{"float64", "float32", "int64"}
	case "delimiter":
		words = []string{"tab", ",", ";", "|"}
	case "cache-dir", "scratch-dir":
		how = cobra.ShellCompDirectiveFilterDirs
	case "classes", "sign", "password-file":
		how = cobra.ShellCompDirectiveDefault
	case "key":
		if f.Annotations[proofMark] != nil {
			how = cobra.ShellCompDirectiveDefault
		}
	}
	return words, how
}
