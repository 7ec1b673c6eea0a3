package help

import (
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/ffconvert/ffconvert/aio"
	"github.com/ffconvert/ffconvert/convert/option"
	"github.com/ffconvert/ffconvert/encode"
)

// choices returns the words of which a flag takes one; nil where it takes others.
func choices(f *pflag.Flag) []string {
	switch v := f.Value.(type) {
	case *option.Choice:
		return v.Words
	case interface{ Choices() []string }:
		return v.Choices()
	case *option.Option:
		return v.Words()
	case *aio.Backend:
		return []string{aio.Auto.String(), aio.AIO.String(), aio.Pread.String()}
	}
	return nil
}

// CompleteFlags gives shells the values of flags, those of the commands below cmd too.
func CompleteFlags(cmd *cobra.Command) {
	cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
		words, how := choices(f), cobra.ShellCompDirectiveNoFileComp
		switch f.Name {
		case "encode":
			words = encodingWords()
		case "dtype":
			words = []string{"float64", "float32", "int64"}
		case "delimiter":
			words = []string{"tab", ",", ";", "|"}
		case "cache-dir":
			how = cobra.ShellCompDirectiveFilterDirs
		case "classes":
			how = cobra.ShellCompDirectiveDefault
		}
		// A flag that two commands share has its words already, which is the one error.
		_ = cmd.RegisterFlagCompletionFunc(f.Name, cobra.FixedCompletions(words, how))
	})
	for _, c := range cmd.Commands() {
		CompleteFlags(c)
	}
}

// encodingWords are the values of --encode, with a line of help each.
func encodingWords() []string {
	var words []string
	for _, line := range encode.Names() {
		name, help, _ := strings.Cut(line, ": ")
		words = append(words, cobra.CompletionWithDesc(name, help))
	}
	return words
}
