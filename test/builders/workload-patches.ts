/** Deployments of other owners, and patches for them. */
import type { JsonObject, KubeObject } from "#kube";
import type { WorkloadPatch } from "#workload-patch";

export const AT = "2026-01-01T00:00:00Z";

/** A Deployment as an API server stores it. */
export function ownedDeployment(container: JsonObject = {}, pod: JsonObject = {}): KubeObject {
  return {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name: "web", namespace: "shop", labels: { app: "web" } },
    spec: {
      replicas: 2,
      selector: { matchLabels: { app: "web" } },
      template: {
        metadata: { labels: { app: "web" } },
        spec: {
          containers: [{ name: "main", image: "web:1", resources: {}, imagePullPolicy: "IfNotPresent", ...container }],
          serviceAccountName: "web",
          ...pod,
        },
      },
    },
  } as KubeObject;
}

/** A patch of the container `main`. */
export function patchOf(main: JsonObject, more: Partial<WorkloadPatch> = {}): WorkloadPatch {
  return podPatch({ containers: [{ name: "main", ...main }] }, more);
}

export function podPatch(pod: JsonObject, more: Partial<WorkloadPatch> = {}): WorkloadPatch {
  return {
    version: 1,
    service: "shop/web",
    target: { namespace: "shop", name: "web" },
    patch: { spec: { template: { spec: pod } } },
    envFrom: {},
    variables: {},
    ...more,
  };
}
