package dataset

import (
	"encoding/json"
	"errors"
	"slices"
)

// NotWholeNames describe the first fields of a shard that are not whole: "a/b: field "jpg": cut: it has no end (FF D9)". "" is
// none. In JSON they are a list without these.
type NotWholeNames [3]string

// List returns those that there are.
func (n NotWholeNames) List() []string {
	list := n[:]
	if end := slices.Index(list, ""); end >= 0 {
		list = list[:end]
	}
	return list
}

// MarshalJSON returns a list of texts.
func (n NotWholeNames) MarshalJSON() ([]byte, error) { return json.Marshal(n.List()) }

// UnmarshalJSON reads a list of texts.
func (n *NotWholeNames) UnmarshalJSON(data []byte) error {
	var list []string
	if err := json.Unmarshal(data, &list); err != nil {
		return err
	}
	if len(list) > len(n) || slices.Contains(list, "") {
		return errors.New("a list of fields that are not whole is too long, or has an empty text")
	}
	copy(n[:], list)
	return nil
}

// check reports whether as many are described as there are, or as can be.
func (n NotWholeNames) check(count int64) bool {
	return int64(len(n.List())) == min(count, int64(len(n)))
}
