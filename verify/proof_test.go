package verify

import "testing"

// A shard that is missing makes no sample of a report.
func TestProofComplete(t *testing.T) {
	t.Parallel()
	seed := uint64(1)
	for _, row := range []struct {
		proof Proof
		want  bool
	}{
		{Proof{Read: 8, Of: 8}, true},
		{Proof{Read: 7, Of: 8}, true},
		{Proof{Read: 8, Of: 8, Seed: &seed}, true},
		{Proof{Read: 7, Of: 8, Seed: &seed}, false},
	} {
		if got := row.proof.Complete(); got != row.want {
			t.Errorf("%+v: %v", row.proof, got)
		}
	}
}
