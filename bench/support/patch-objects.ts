/** The Deployments of the bench `admission-patch`, and the workload patches of the first ones. */
import type { Deployment, JsonObject } from "#kube";
import type { WorkloadPatch, WorkloadTarget } from "#workload-patch";

export const DEPLOYMENTS = 10_000;
export const PATCHED = 1_000;
const NAMESPACES = 50;

export const NAMESPACE_NAMES = Array.from({ length: NAMESPACES }, (_, at) => targetOf(at).namespace);

/** The first `PATCHED` are targets of services; each namespace has some of them, and nine times as many others. */
export function targetOf(at: number): WorkloadTarget {
  return { namespace: `team-${at % NAMESPACES}`, name: `deployment-${at}` };
}

/** As a chart makes it: three containers with ten variables each. */
export function ownersDeployment(at: number): Deployment {
  const { namespace, name } = targetOf(at);
  const labels = { app: name };
  const containers = ["main", "proxy", "metrics"].map((container) => ({
    name: container,
    image: `images.example/${container}:1`,
    env: Array.from({ length: 10 }, (_, number) => ({ name: `OPTION_${number}`, value: `value-${number}` })),
    resources: { requests: { cpu: "100m", memory: "128Mi" }, limits: { memory: "256Mi" } },
  }));
  const spec = { replicas: 2, selector: { matchLabels: labels }, template: { metadata: { labels }, spec: { containers } } };
  return { apiVersion: "apps/v1", kind: "Deployment", metadata: { namespace, name, labels }, spec };
}

export function patchOf(target: WorkloadTarget): WorkloadPatch {
  const env = [{ name: "OPTION_3", value: "patched" }];
  const resources = { limits: { memory: "512Mi" } };
  const containers: JsonObject[] = [{ name: "main", env, resources }];
  const annotations = { "lattice.dev/config-hash": "0123456789abcdef" };
  return {
    version: 1,
    service: `${target.namespace}/${target.name}`,
    target,
    patch: { spec: { template: { metadata: { annotations }, spec: { containers } } } },
    envFrom: { main: [{ configMapRef: { name: `${target.name}-env` } }, { secretRef: { name: `${target.name}-env` } }] },
    variables: {},
  };
}
