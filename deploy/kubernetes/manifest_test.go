package kubernetes

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/argoproj/argo-workflows/v3/pkg/apis/workflow/v1alpha1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/util/yaml"
)

// steps are the jobs in the order in which they are applied, by their label.
var steps = []string{"plan", "run", "finish"}

// A manifest is what a file of Kubernetes objects holds.
type manifest struct {
	name  string
	text  []byte
	claim *corev1.PersistentVolumeClaim // nil: no volume is shared
	jobs  map[string]*batchv1.Job       // by step
}

// The manifests: of a directory that all pods see, and of an object store.
const (
	shared   = "ffconvert.yaml"
	inBucket = "ffconvert-bucket.yaml"
)

// each runs a test for each manifest.
func each(t *testing.T, test func(t *testing.T, m *manifest)) {
	t.Parallel()
	for _, name := range []string{shared, inBucket} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, readManifest(t, name))
		})
	}
}

// readManifest decodes a file as the API server does that validates strictly: a field that
// is unknown, misspelt or there twice is an error.
func readManifest(t *testing.T, name string) *manifest {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return parseManifest(t, name, text)
}

func parseManifest(t *testing.T, name string, text []byte) *manifest {
	t.Helper()
	m := &manifest{name: name, text: text, jobs: make(map[string]*batchv1.Job)}
	for n, document := range documents(t, text) {
		object, err := decode(document)
		if err != nil {
			t.Fatalf("object %d: %v", n, err)
		}
		switch o := object.(type) {
		case *corev1.PersistentVolumeClaim:
			m.claim = o
		case *batchv1.Job:
			m.jobs[o.Labels["step"]] = o
		default:
			t.Fatalf("object %d is a %T", n, o)
		}
	}
	return m
}

var comment = regexp.MustCompile(`(?m)^\s*#.*$`)

// documents returns those that hold more than comments.
func documents(t *testing.T, text []byte) (all [][]byte) {
	t.Helper()
	reader := yaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(comment.ReplaceAll(text, nil))))
	for {
		document, err := reader.Read()
		if errors.Is(err, io.EOF) {
			return all
		}
		if err != nil {
			t.Fatal(err)
		}
		if len(bytes.TrimSpace(document)) > 0 {
			all = append(all, document)
		}
	}
}

// decode decodes one object of the kinds that the manifest may have.
func decode(document []byte) (runtime.Object, error) {
	kinds := runtime.NewScheme()
	if err := errors.Join(batchv1.AddToScheme(kinds), corev1.AddToScheme(kinds), v1alpha1.AddToScheme(kinds)); err != nil {
		return nil, err
	}
	object, _, err := serializer.NewCodecFactory(kinds, serializer.EnableStrict).UniversalDeserializer().Decode(document, nil, nil)
	return object, err
}

// container returns the one container of a job's pods.
func container(t *testing.T, job *batchv1.Job) *corev1.Container {
	t.Helper()
	if job == nil {
		t.Fatal("no such job")
	}
	spec := &job.Spec.Template.Spec
	if len(spec.Containers) != 1 || len(spec.InitContainers) != 0 || spec.Containers[0].Name != "ffconvert" {
		t.Fatalf("%s: %d containers", job.Name, len(spec.Containers))
	}
	return &spec.Containers[0]
}

// The decoder refuses what a server would: otherwise the other tests prove little.
func TestDecodingIsStrict(t *testing.T) { each(t, decodingIsStrict) }

func decodingIsStrict(t *testing.T, m *manifest) {
	for name, change := range map[string][2]string{
		"unknown field":       {"  completions: 40\n", "  completions: 40\n  complete: 40\n"},
		"field of other case": {"completionMode: Indexed", "completionmode: Indexed"},
		"field twice":         {"  parallelism: 10\n", "  parallelism: 10\n  parallelism: 11\n"},
		"text for a number":   {"completions: 40", `completions: "40"`},
		"no quantity":         {"sizeLimit: 22Gi", "sizeLimit: 22GB"},
		"wrong indentation":   {"\n  backoffLimitPerIndex: 6", "\nbackoffLimitPerIndex: 6"},
		"unknown kind":        {"kind: Job", "kind: Jobs"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			changed := bytes.Replace(m.text, []byte(change[0]), []byte(change[1]), 1)
			if bytes.Equal(changed, m.text) {
				t.Fatalf("the manifest has no %q", change[0])
			}
			refused := 0
			for _, document := range documents(t, changed) {
				if _, err := decode(document); err != nil {
					refused++
				}
			}
			if refused != 1 {
				t.Errorf("%d documents were refused, not 1", refused)
			}
		})
	}
}

// Each object has the labels by which the commands of the head apply it.
func TestSteps(t *testing.T) { each(t, hasSteps) }

func hasSteps(t *testing.T, m *manifest) {
	want := steps
	objects := make(map[string]metav1.ObjectMeta)
	if m.claim != nil {
		want = append([]string{"storage"}, steps...)
		objects["storage"] = m.claim.ObjectMeta
	}
	for _, step := range steps {
		job := m.jobs[step]
		if container(t, job); job.Name != "ffconvert-"+step {
			t.Errorf("the job of step %s is %s", step, job.Name)
		}
		if !labels.Equals(job.Labels, job.Spec.Template.Labels) {
			t.Errorf("%s: its pods are labelled %v", job.Name, job.Spec.Template.Labels)
		}
		objects[step] = job.ObjectMeta
	}
	if len(m.jobs) != len(steps) {
		t.Errorf("%d jobs", len(m.jobs))
	}
	var applied []string
	for _, apply := range regexp.MustCompile(`kubectl apply -f (\S+) -l ('.*'|\S+)`).FindAllStringSubmatch(string(m.text), -1) {
		selector, err := labels.Parse(strings.Trim(apply[2], "'"))
		if err != nil {
			t.Fatal(err)
		}
		for _, step := range want {
			if apply[1] == m.name && selector.Matches(labels.Set(objects[step].Labels)) {
				applied = append(applied, step)
			}
		}
	}
	if !slices.Equal(applied, want) {
		t.Errorf("the commands apply %q; want %q", applied, want)
	}
	for _, name := range regexp.MustCompile(`job/ffconvert-([a-z]+)`).FindAllSubmatch(m.text, -1) {
		if m.jobs[string(name[1])] == nil {
			t.Errorf("a command names %s", name[0])
		}
	}
}

// Kueue is asked by a label of each Job. Its pods have none: they would be queued twice. A Job is suspended by Kueue itself.
func TestQueueLabel(t *testing.T) { each(t, hasQueueLabel) }

func hasQueueLabel(t *testing.T, m *manifest) {
	const label = "kueue.x-k8s.io/queue-name"
	queued := parseManifest(t, m.name, bytes.ReplaceAll(m.text, []byte("# "+label), []byte(label)))
	for _, step := range steps {
		job := queued.jobs[step]
		if m.jobs[step].Labels[label] != "" || job.Labels[label] != "LOCALQUEUE" || job.Spec.Template.Labels[label] != "" || job.Spec.Suspend != nil {
			t.Errorf("%s: labels %v, of its pods %v, suspend %v", job.Name, job.Labels, job.Spec.Template.Labels, job.Spec.Suspend)
		}
	}
}
