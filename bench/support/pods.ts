/** Pods as an API server sends them: about 2.9 KB of JSON, a third of it managedFields. */
import type { KubeObject } from "#kube";
import { defineResource } from "#kube";

export const pods = defineResource<KubeObject>({ group: "", version: "v1", kind: "Pod", plural: "pods", namespaced: true });

export function pod(index: number, resourceVersion: number): KubeObject {
  const name = `web-${index.toString(36).padStart(6, "0")}`;
  const metadata = {
    name,
    namespace: `team-${index % 50}`,
    uid: `00000000-0000-4000-8000-${index.toString(16).padStart(12, "0")}`,
    resourceVersion: String(resourceVersion),
    creationTimestamp: "2026-01-01T00:00:00Z",
    labels: { "app.kubernetes.io/name": "web", "app.kubernetes.io/instance": name, "pod-template-hash": "7d4b9c6f5d" },
    annotations: { "prometheus.io/scrape": "true", "prometheus.io/port": "9090" },
    ownerReferences: [{ apiVersion: "apps/v1", kind: "ReplicaSet", name: "web-7d4b9c6f5d", uid: `rs-${index % 100}`, controller: true }],
    managedFields: ["kube-controller-manager", "kubelet"].map((manager) => ({ manager, operation: "Update", fieldsV1: managed() })),
  };
  const containers = ["app", "proxy"].map((container) => ({
    name: container,
    image: `registry.example.org/${container}:1.2.3`,
    ports: [{ containerPort: 8080, name: "http", protocol: "TCP" }],
    env: ["LOG_LEVEL", "REGION", "FEATURES"].map((variable) => ({ name: variable, value: `value-of-${variable}-${index}` })),
    resources: { requests: { cpu: "100m", memory: "128Mi" }, limits: { cpu: "500m", memory: "256Mi" } },
    volumeMounts: [{ mountPath: "/etc/config", name: "config", readOnly: true }],
  }));
  const spec = {
    containers,
    nodeName: `node-${index % 200}`,
    serviceAccountName: "web",
    volumes: [{ name: "config", configMap: { name: "web" } }],
  };
  const conditions = ["Initialized", "Ready", "ContainersReady", "PodScheduled"].map((type) => ({
    type,
    status: "True",
    lastTransitionTime: "2026-01-01T00:00:10Z",
  }));
  const status = { phase: "Running", podIP: `10.0.${index % 250}.${index % 240}`, conditions };
  return { apiVersion: "v1", kind: "Pod", metadata, spec, status } as KubeObject;
}

function managed(): object {
  const names = ["image", "imagePullPolicy", "name", "ports", "resources", "terminationMessagePath", "volumeMounts", "env"];
  const fields = Object.fromEntries(names.map((name) => [`f:${name}`, {}]));
  return { "f:metadata": { "f:labels": { ".": {}, "f:app": {} } }, "f:spec": { 'k:{"name":"app"}': fields, 'k:{"name":"proxy"}': fields } };
}
