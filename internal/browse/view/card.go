package view

import (
	"strings"

	"github.com/ffconvert/ffconvert/converters"
)

// A Card is the view of a sample in the grid.
type Card struct {
	Index int    // index of the field that it shows; -1 if the sample has no field
	Field string // its name
	Kind  Kind
	Type  string
	Text  string // at most 160 characters on one line
}

const maxCard = 160 // characters

// rank orders kinds by how well they describe a sample at a glance.
var rank = map[Kind]int{KindImage: 9, kindText: 8, kindVideo: 7, kindAudio: 6, kindJSON: 5, kindTree: 4, kindNumbers: 3, kindValue: 2, kindHex: 1}

// CardOf returns the card of a sample: of the first picture, else of the first text, video, audio, or other field. It
// reads only the start of fields.
func CardOf(s *converters.Sample) Card {
	limits := bounds{Fields: 64, Text: 4 * maxCard, All: 64 * 4 * maxCard, Nodes: 64, Rows: 1, Columns: 8, Hex: 32}
	card := Card{Index: -1}
	for i, f := range fieldsOf(s, limits) {
		if card.Index < 0 || rank[f.Kind] > rank[card.Kind] {
			card = Card{Index: i, Field: f.Name, Kind: f.Kind, Type: f.Type, Text: f.words()}
		}
	}
	return card
}

// words returns the content of a field on one line.
func (f *Field) words() string {
	var words []string
	switch f.Kind {
	case kindNumbers:
		words = append(words, f.Shape+":")
		for _, row := range f.Table {
			words = append(words, row...)
		}
	case kindTree:
		words = f.Tree.words(nil)
	case kindHex:
		for _, line := range f.Hex {
			words = append(words, line.Hex)
		}
	case KindImage:
		words = append(words, f.Problem)
	default:
		words = strings.Fields(f.Text)
	}
	line := []rune(strings.Join(words, " "))
	if len(line) > maxCard || f.Cut && len(line) == maxCard {
		line = append(line[:maxCard-1], '…')
	}
	return string(line)
}

func (n *node) words(words []string) []string {
	if n.Key != "" {
		words = append(words, n.Key+":")
	}
	if n.Text != "" {
		words = append(words, n.Text)
	}
	for _, c := range n.Children {
		words = c.words(words)
	}
	return words
}
