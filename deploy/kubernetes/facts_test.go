package kubernetes

import (
	"bytes"
	"cmp"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// option returns the value of --name=value among the arguments of a container.
func option(c *corev1.Container, name string) string {
	for _, arg := range c.Args {
		if value, ok := strings.CutPrefix(arg, "--"+name+"="); ok {
			return value
		}
	}
	return ""
}

func isTrue(b *bool) bool  { return b != nil && *b }
func isFalse(b *bool) bool { return b != nil && !*b }

// The run is an indexed job, whose pods know how many they are.
func TestRunIsIndexed(t *testing.T) { each(t, runIsIndexed) }

func runIsIndexed(t *testing.T, m *manifest) {
	job := m.jobs["run"]
	c, spec := container(t, job), &job.Spec
	if spec.CompletionMode == nil || *spec.CompletionMode != batchv1.IndexedCompletion {
		t.Errorf("completionMode: %v", spec.CompletionMode)
	}
	if spec.Completions == nil || spec.Parallelism == nil || *spec.Parallelism < 1 || *spec.Parallelism > *spec.Completions {
		t.Fatalf("completions %v, parallelism %v", spec.Completions, spec.Parallelism)
	}
	want := []corev1.EnvVar{{Name: "FFCONVERT_TASKS", Value: strconv.Itoa(int(*spec.Completions))}}
	if !reflect.DeepEqual(c.Env, want) {
		t.Errorf("env %v; want %v, as many as completions", c.Env, want)
	}
	if spec.BackoffLimitPerIndex == nil || *spec.BackoffLimitPerIndex < 1 || spec.BackoffLimit != nil {
		t.Errorf("backoffLimitPerIndex %v, backoffLimit %v", spec.BackoffLimitPerIndex, spec.BackoffLimit)
	}
	if spec.MaxFailedIndexes == nil || *spec.MaxFailedIndexes < 1 || *spec.MaxFailedIndexes >= *spec.Completions {
		t.Errorf("maxFailedIndexes %v", spec.MaxFailedIndexes)
	}
	if option(c, "task") != "" {
		t.Errorf("args %q: all pods would be one task", c.Args)
	}
}

// What is retried: a pod that was taken away, and what may go well another time.
func TestFailurePolicies(t *testing.T) { each(t, hasFailurePolicies) }

func hasFailurePolicies(t *testing.T, m *manifest) {
	for step, want := range map[string]struct {
		action   batchv1.PodFailurePolicyAction
		statuses []int32
	}{
		"plan":   {batchv1.PodFailurePolicyActionFailJob, []int32{1, 2, 3}},
		"run":    {batchv1.PodFailurePolicyActionFailIndex, []int32{1, 2, 3}},
		"finish": {batchv1.PodFailurePolicyActionFailJob, []int32{1, 2, 3, 5}},
	} {
		name := "ffconvert"
		rules := []batchv1.PodFailurePolicyRule{
			{Action: want.action, OnExitCodes: &batchv1.PodFailurePolicyOnExitCodesRequirement{
				ContainerName: &name, Operator: batchv1.PodFailurePolicyOnExitCodesOpIn, Values: want.statuses,
			}},
			{Action: batchv1.PodFailurePolicyActionIgnore, OnPodConditions: []batchv1.PodFailurePolicyOnPodConditionsPattern{
				{Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue},
			}},
		}
		spec := &m.jobs[step].Spec
		if spec.PodFailurePolicy == nil || !reflect.DeepEqual(spec.PodFailurePolicy.Rules, rules) {
			t.Errorf("%s: %+v; want %+v", step, spec.PodFailurePolicy, rules)
		}
		if spec.Template.Spec.RestartPolicy != corev1.RestartPolicyNever {
			t.Errorf("%s: restartPolicy %s; a policy of failures needs Never", step, spec.Template.Spec.RestartPolicy)
		}
		if step != "run" && (spec.BackoffLimit == nil || *spec.BackoffLimit < 1) {
			t.Errorf("%s: backoffLimit %v", step, spec.BackoffLimit)
		}
	}
}

// The pods have no more rights than the restricted level of the Pod Security Standards gives.
func TestPodsAreRestricted(t *testing.T) { each(t, podsAreRestricted) }

func podsAreRestricted(t *testing.T, m *manifest) {
	user := containerUser(t)
	for _, step := range steps {
		pod, c := &m.jobs[step].Spec.Template.Spec, container(t, m.jobs[step])
		if !isFalse(pod.AutomountServiceAccountToken) || !isFalse(pod.EnableServiceLinks) || pod.HostNetwork || pod.HostPID || pod.HostIPC {
			t.Errorf("%s: the pod has more than it needs", step)
		}
		s := pod.SecurityContext
		if s == nil || !isTrue(s.RunAsNonRoot) || s.RunAsUser == nil || s.RunAsGroup == nil || s.FSGroup == nil {
			t.Fatalf("%s: securityContext %+v", step, s)
		}
		if *s.RunAsUser != user || *s.RunAsGroup != user || *s.FSGroup != user {
			t.Errorf("%s: user %d, group %d, fsGroup %d; the image's is %d", step, *s.RunAsUser, *s.RunAsGroup, *s.FSGroup, user)
		}
		if m.claim != nil && (s.FSGroupChangePolicy == nil || *s.FSGroupChangePolicy != corev1.FSGroupChangeOnRootMismatch) {
			t.Errorf("%s: every pod would change the group of every file", step)
		}
		if s.SeccompProfile == nil || s.SeccompProfile.Type != corev1.SeccompProfileTypeRuntimeDefault {
			t.Errorf("%s: seccompProfile %+v", step, s.SeccompProfile)
		}
		k := c.SecurityContext
		if k == nil || !isFalse(k.AllowPrivilegeEscalation) || !isTrue(k.ReadOnlyRootFilesystem) || k.Privileged != nil || k.RunAsUser != nil || k.SeccompProfile != nil {
			t.Fatalf("%s: container's securityContext %+v", step, k)
		}
		if want := (&corev1.Capabilities{Drop: []corev1.Capability{"ALL"}}); !reflect.DeepEqual(k.Capabilities, want) {
			t.Errorf("%s: capabilities %+v", step, k.Capabilities)
		}
	}
}

// Credentials come from one Secret, or where there is none from the service account.
func TestSecret(t *testing.T) { each(t, hasSecret) }

func hasSecret(t *testing.T, m *manifest) {
	var want []corev1.EnvFromSource
	if m.claim == nil {
		optional := true
		want = []corev1.EnvFromSource{{SecretRef: &corev1.SecretEnvSource{LocalObjectReference: corev1.LocalObjectReference{Name: "ffconvert-bucket"}, Optional: &optional}}}
	}
	for _, step := range steps {
		if got := container(t, m.jobs[step]).EnvFrom; !reflect.DeepEqual(got, want) {
			t.Errorf("%s: envFrom %+v; want %+v", step, got, want)
		}
	}
	if m.claim == nil && !bytes.Contains(m.text, []byte("kubectl create secret generic ffconvert-bucket ")) {
		t.Error("no command makes the Secret")
	}
}

// The steps are of one image, a certain one.
func TestImages(t *testing.T) { each(t, hasImages) }

func hasImages(t *testing.T, m *manifest) {
	images := make(map[string]bool)
	for _, step := range steps {
		c := container(t, m.jobs[step])
		images[c.Image] = true
		if !regexp.MustCompile(`^[a-z0-9.]+(/[a-z0-9-]+)+:v[0-9.]+$`).MatchString(c.Image) {
			t.Errorf("%s: image %s; want a registry, a name and a version", step, c.Image)
		}
		if len(c.Command) != 0 {
			t.Errorf("%s: command %q; the image has an entry point", step, c.Command)
		}
	}
	if len(images) != 1 {
		t.Errorf("images %v", images)
	}
}

// What a pod may use goes with what it is told to.
func TestResources(t *testing.T) { each(t, hasResources) }

func hasResources(t *testing.T, m *manifest) {
	if m.claim != nil && !slices.Equal(m.claim.Spec.AccessModes, []corev1.PersistentVolumeAccessMode{corev1.ReadWriteMany}) {
		t.Errorf("accessModes %v; several nodes write", m.claim.Spec.AccessModes)
	}
	for _, step := range steps {
		c := container(t, m.jobs[step])
		if c.Resources.Limits.Memory().IsZero() || c.Resources.Requests.Memory().IsZero() || c.Resources.Requests.Cpu().IsZero() {
			t.Errorf("%s: resources %v", step, c.Resources)
		}
		for _, v := range m.jobs[step].Spec.Template.Spec.Volumes {
			switch {
			case v.PersistentVolumeClaim != nil:
				if m.claim == nil || v.PersistentVolumeClaim.ClaimName != m.claim.Name || v.PersistentVolumeClaim.ReadOnly {
					t.Errorf("%s: volume %s is of claim %s", step, v.Name, v.PersistentVolumeClaim.ClaimName)
				}
			case v.EmptyDir != nil:
				var bounds []string // of what the pod has there
				if step != "finish" {
					bounds = append(bounds, "cache-size")
				}
				if m.claim == nil && step != "plan" {
					bounds = append(bounds, "bucket=scratch-size")
				}
				var most resource.Quantity
				for _, name := range bounds {
					size, err := resource.ParseQuantity(strings.TrimSuffix(option(c, name), "B"))
					if err != nil {
						t.Errorf("%s: --%s: %v", step, name, err)
					}
					most.Add(size)
				}
				if v.EmptyDir.SizeLimit == nil || most.Cmp(*v.EmptyDir.SizeLimit) >= 0 {
					t.Errorf("%s: files of %v in a volume of %v", step, &most, v.EmptyDir.SizeLimit)
				}
				if disk := c.Resources.Requests.StorageEphemeral(); disk.Cmp(*v.EmptyDir.SizeLimit) < 0 {
					t.Errorf("%s: a volume of %v on a node that need have %v", step, v.EmptyDir.SizeLimit, disk)
				}
			default:
				t.Errorf("%s: volume %s", step, v.Name)
			}
		}
	}
	run := container(t, m.jobs["run"])
	if jobs := resource.MustParse(cmp.Or(option(run, "jobs"), "0")); jobs.Cmp(*run.Resources.Limits.Cpu()) != 0 {
		t.Errorf("--jobs %v on %v CPUs", &jobs, run.Resources.Limits.Cpu())
	}
}

// The kubelet waits longer for a task than the task for its shards.
func TestGrace(t *testing.T) { each(t, hasGrace) }

func hasGrace(t *testing.T, m *manifest) {
	job := m.jobs["run"]
	grace, err := time.ParseDuration(option(container(t, job), "grace"))
	if err != nil || grace < 30*time.Second {
		t.Fatalf("--grace %v, %v", grace, err)
	}
	given := job.Spec.Template.Spec.TerminationGracePeriodSeconds
	if given == nil || time.Duration(*given)*time.Second < grace+15*time.Second {
		t.Errorf("terminationGracePeriodSeconds %v for --grace %v", given, grace)
	}
}
