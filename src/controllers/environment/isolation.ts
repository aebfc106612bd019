/** The limits of an environment's namespace, as Kubernetes enforces them. Pure. */
import type { LatticeEnvironment } from "#crds";
import type { KubeObject } from "#kube";

const ISOLATION_NAME = "lattice-isolation";

export function isolationObjects(namespace: string, { metadata, spec }: LatticeEnvironment): readonly KubeObject[] {
  const { quota = {}, limits = {} } = spec.isolation ?? {};
  const labels = { "app.kubernetes.io/managed-by": "lattice", "lattice.dev/environment": metadata.name };
  const head = { apiVersion: "v1", metadata: { name: ISOLATION_NAME, namespace, labels } };
  const objects = [
    ...(Object.keys(quota).length === 0 ? [] : [{ ...head, kind: "ResourceQuota", spec: { hard: texts(quota) } }]),
    ...(Object.keys(limits).length === 0
      ? []
      : [{ ...head, kind: "LimitRange", spec: { limits: [{ type: "Container", default: texts(limits) }] } }]),
  ];
  return objects;
}

/** A quantity may be a number, but the API server stores it as text: a number would show as drift on every pass. */
function texts(quantities: Readonly<Record<string, string | number>>): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(quantities).map(([name, quantity]) => [name, String(quantity)]));
}
