package kubernetes

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/argoproj/argo-workflows/v3/pkg/apis/workflow/v1alpha1"
	"github.com/expr-lang/expr"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
)

// argoFile returns the text of the workflow.
func argoFile(t *testing.T) []byte {
	t.Helper()
	text, err := os.ReadFile("argo.yaml")
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// readWorkflow decodes it with Argo's types; an unknown field is an error.
func readWorkflow(t *testing.T) *v1alpha1.Workflow {
	t.Helper()
	object, err := decode(argoFile(t))
	if err != nil {
		t.Fatal(err)
	}
	return object.(*v1alpha1.Workflow)
}

// template returns a template of the workflow by its name.
func template(t *testing.T, w *v1alpha1.Workflow, name string) *v1alpha1.Template {
	t.Helper()
	for i := range w.Spec.Templates {
		if w.Spec.Templates[i].Name == name {
			return &w.Spec.Templates[i]
		}
	}
	t.Fatalf("no template %s", name)
	return nil
}

func TestWorkflowDecodingIsStrict(t *testing.T) {
	t.Parallel()
	text := argoFile(t)
	for name, change := range map[string][2]string{
		"unknown field":              {"  parallelism: 10\n", "  parallelism: 10\n  atOnce: 10\n"},
		"field of other case":        {"failFast: false", "failfast: false"},
		"field twice":                {"  parallelism: 10\n", "  parallelism: 10\n  parallelism: 11\n"},
		"text for a number":          {"parallelism: 10", `parallelism: "10"`},
		"unknown field in an anchor": {"limit: 6\n", "limit: 6\n      limits: 6\n"},
		"no quantity":                {"sizeLimit: 22Gi", "sizeLimit: 22GB"},
		"unknown kind":               {"kind: Workflow", "kind: Workflows"},
	} {
		changed := bytes.Replace(text, []byte(change[0]), []byte(change[1]), 1)
		if bytes.Equal(changed, text) {
			t.Fatalf("%s: argo.yaml has no %q", name, change[0])
		}
		if _, err := decode(changed); err == nil {
			t.Errorf("%s: it is accepted", name)
		}
	}
}

// What is tried again is what docs/clusters.md says: all but statuses 1, 2 and 3.
func TestWorkflowRetries(t *testing.T) {
	t.Parallel()
	w := readWorkflow(t)
	for _, step := range steps {
		retry := template(t, w, step).RetryStrategy
		if retry == nil || retry.Limit.IntValue() < 1 || retry.RetryPolicy != "" {
			t.Fatalf("%s: retryStrategy %+v", step, retry)
		}
		for status := -1; status < 256; status++ {
			again, err := expr.Eval(retry.Expression, map[string]any{
				"asInt":     func(s string) (int, error) { return strconv.Atoi(s) },
				"lastRetry": map[string]any{"exitCode": strconv.Itoa(status)},
			})
			if want := status < 1 || status > 3; err != nil || again != want {
				t.Errorf("%s: status %d is tried again: %v, %v; want %v", step, status, again, err, want)
			}
		}
	}
}

// podOf returns the pod of a template with these values of its placeholders.
func podOf(t *testing.T, w *v1alpha1.Workflow, step string, on node, values ...string) *pod {
	t.Helper()
	tmpl := template(t, w, step)
	c := tmpl.Container.DeepCopy()
	c.Name = "ffconvert"
	for i, arg := range c.Args {
		if c.Args[i] = strings.NewReplacer(values...).Replace(arg); strings.Contains(c.Args[i], "{{") {
			t.Fatalf("%s: nothing gives %s", step, c.Args[i])
		}
	}
	if len(c.Command) != 1 || c.Command[0] != "/ffconvert" {
		t.Errorf("%s: command %q; Argo asks a registry where there is none", step, c.Command)
	}
	job := &batchv1.Job{}
	job.Name = step
	job.Spec.Template.Spec.Containers = []corev1.Container{*c}
	job.Spec.Template.Spec.Volumes = append(w.Spec.Volumes, tmpl.Volumes...)
	for _, m := range c.VolumeMounts {
		found := false
		for _, v := range job.Spec.Template.Spec.Volumes {
			found = found || v.Name == m.Name
		}
		if !found {
			t.Errorf("%s: no volume %s", step, m.Name)
		}
	}
	return newPod(t, job, -1, on)
}

// The steps of the workflow make what one machine makes, and use the claim of ffconvert.yaml.
func TestWorkflow(t *testing.T) {
	t.Parallel()
	w := readWorkflow(t)
	if claim := w.Spec.Volumes[0].PersistentVolumeClaim; claim == nil || claim.ClaimName != readManifest(t, shared).claim.Name {
		t.Errorf("volumes %+v", w.Spec.Volumes)
	}
	dag := template(t, w, w.Spec.Entrypoint).DAG
	if dag == nil || len(dag.Tasks) != len(steps) {
		t.Fatalf("%s: %+v", w.Spec.Entrypoint, dag)
	}
	for i, task := range dag.Tasks {
		if task.Name != steps[i] || task.Template != steps[i] || i > 0 && task.Depends != steps[i-1] {
			t.Errorf("task %d is %s, of template %s, after %q", i, task.Name, task.Template, task.Depends)
		}
	}
	const of = "{{workflow.parameters.tasks}}"
	run := dag.Tasks[1]
	if run.WithSequence == nil || run.WithSequence.Count.String() != of {
		t.Fatalf("withSequence %+v", run.WithSequence)
	}
	tars, out := t.TempDir(), filepath.Join(t.TempDir(), "out")
	writeTars(t, tars)
	here := directory(tars, out).pod(t)
	pods := []*pod{podOf(t, w, "plan", here)}
	for k := range tasks {
		n := strconv.Itoa(tasks)
		task := strings.NewReplacer("{{item}}", strconv.Itoa(k), of, n).Replace(run.Arguments.Parameters[0].Value.String())
		if want := fmt.Sprintf("%d/%d", k, tasks); task != want {
			t.Errorf("task %s, want %s", task, want)
		}
		pods = append(pods, podOf(t, w, "run", here, "{{inputs.parameters."+run.Arguments.Parameters[0].Name+"}}", task))
	}
	pods[0].args = append(pods[0].args[:2:2], append([]string{"--shards=" + strconv.Itoa(shards)}, pods[0].args[2:]...)...)
	for _, p := range append(pods, podOf(t, w, "finish", here)) {
		if e, err := p.run(t.Context(), fate{}); err != nil || e.status != 0 {
			t.Fatalf("%q: %v\n%s", p.args, err, e.said)
		}
	}
	plan := readManifest(t, shared).jobs["plan"]
	c := container(t, plan)
	c.Args = append(c.Args[:2:2], append([]string{"--shards=" + strconv.Itoa(shards)}, c.Args[2:]...)...)
	difference(t, onOneMachine(t, plan, directory(tars, filepath.Join(t.TempDir(), "out"))), output(t, out))
}
