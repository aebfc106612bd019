// A test as kubebuilder writes it, with nothing changed for Lattice: envtest takes the cluster that USE_EXISTING_CLUSTER and KUBECONFIG name.
package greetings

import (
	"context"
	"path/filepath"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
)

func startCluster(t *testing.T) client.Client {
	t.Helper()
	environment := &envtest.Environment{CRDDirectoryPaths: []string{filepath.Join("..", "crds")}, ErrorIfCRDPathMissing: true}
	config, err := environment.Start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = environment.Stop() })
	c, err := client.New(config, client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// Each test has a namespace of its own, so that it can run again on the same cluster.
func newNamespace(t *testing.T, c client.Client) string {
	t.Helper()
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "greetings-"}}
	if err := c.Create(context.Background(), namespace); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Delete(context.Background(), namespace) })
	return namespace.Name
}

func TestGreetings(t *testing.T) {
	c, ctx := startCluster(t), context.Background()
	namespace := newNamespace(t, c)

	greeting := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "example.com/v1", "kind": "Greeting",
		"metadata": map[string]any{"name": "hello", "namespace": namespace},
		"spec":     map[string]any{"text": "Hello!"},
	}}
	if err := c.Create(ctx, greeting); err != nil {
		t.Fatal(err)
	}
	empty := greeting.DeepCopy()
	empty.SetName("empty")
	empty.SetResourceVersion("")
	_ = unstructured.SetNestedField(empty.Object, "", "spec", "text")
	if err := c.Create(ctx, empty); !apierrors.IsInvalid(err) {
		t.Fatalf("an empty text must be refused by the schema, got %v", err)
	}

	owner := metav1.NewControllerRef(greeting, greeting.GroupVersionKind())
	configMap := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "hello", Namespace: namespace, OwnerReferences: []metav1.OwnerReference{*owner}}}
	if err := c.Create(ctx, configMap); err != nil {
		t.Fatal(err)
	}
	stale := configMap.DeepCopy()
	configMap.Data = map[string]string{"text": "Hello!"}
	if err := c.Update(ctx, configMap); err != nil {
		t.Fatal(err)
	}
	stale.Data = map[string]string{"text": "too late"}
	if err := c.Update(ctx, stale); !apierrors.IsConflict(err) {
		t.Fatalf("a stale update must conflict, got %v", err)
	}
}
