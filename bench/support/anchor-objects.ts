/** The objects that the fake clients of other projects are measured with: ConfigMaps of ten keys and Deployments of 4 kB, a tenth of each in one group. */
import { existsSync, readFileSync } from "node:fs";
import { defineResource, type JsonObject, type KubeObject, type Resource } from "#kube";

export const configMaps: Resource<Settings> = defineResource({
  group: "",
  version: "v1",
  kind: "ConfigMap",
  plural: "configmaps",
  namespaced: true,
});
export const deployments: Resource<Workload> = defineResource({
  group: "apps",
  version: "v1",
  kind: "Deployment",
  plural: "deployments",
  namespaced: true,
});

export type Workload = KubeObject & {
  readonly spec: { readonly template: { readonly spec: { readonly containers: readonly JsonObject[] } } };
};
export type Settings = KubeObject & { readonly data: Readonly<Record<string, string>> };

export function configMap(at: number, namespace = "default"): Settings {
  const data = Object.fromEntries(Array.from({ length: 10 }, (_, key) => [`key-${key}`, `value-${at}-${key}`]));
  const metadata = { name: `cm-${at}`, namespace, labels: { group: String(at % 10), app: "web" } };
  return { apiVersion: "v1", kind: "ConfigMap", metadata, data };
}

export function deployment(at: number, namespace = "default"): Workload {
  const made = JSON.parse(deploymentText()) as Workload;
  const metadata = { ...made.metadata, name: `web-${at}`, namespace, labels: { ...made.metadata.labels, group: String(at % 10) } };
  return { ...made, metadata };
}

/** The same Deployment with another image in its first container: the change that benches make. */
export function withImage(object: Workload, image: string): Workload {
  const { template } = object.spec;
  const containers = template.spec.containers.map((container, at) => (at === 0 ? { ...container, image } : container));
  return { ...object, spec: { ...object.spec, template: { ...template, spec: { ...template.spec, containers } } } };
}

const ANCHOR = new URL("../../../shared/anchors/smp/inputs/deploy.original.json", import.meta.url);
let text: string | undefined;

function deploymentText(): string {
  return (text ??= existsSync(ANCHOR) ? readFileSync(ANCHOR, "utf8") : JSON.stringify(madeDeployment()));
}

/** Where the measured objects are not available: the same shape and about the same size. */
function madeDeployment(): JsonObject {
  const labels = { app: "web", tier: "front" };
  const template = {
    metadata: { labels },
    spec: { containers: ["app", "sidecar"].map(madeContainer), volumes: [{ name: "config", emptyDir: {} }] },
  };
  return {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name: "web", namespace: "default", labels },
    spec: { replicas: 3, selector: { matchLabels: { app: "web" } }, template },
  };
}

function madeContainer(name: string): JsonObject {
  const probe = { httpGet: { path: "/healthz", port: 8080 }, periodSeconds: 10, failureThreshold: 3 };
  return {
    name,
    image: `images.example/${name}:1.0.0`,
    args: ["--log-level=info", "--port=8080"],
    ports: [{ name: "http", containerPort: 8080, protocol: "TCP" }],
    env: Array.from({ length: 10 }, (_, at) => ({ name: `${name.toUpperCase()}_${at}`, value: `value-${at}` })),
    resources: { requests: { cpu: "100m", memory: "128Mi" }, limits: { cpu: "500m", memory: "512Mi" } },
    volumeMounts: [{ name: "config", mountPath: "/etc/app", readOnly: true }],
    livenessProbe: probe,
    readinessProbe: probe,
  };
}
