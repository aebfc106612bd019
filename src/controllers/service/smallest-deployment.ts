/** The Deployment by which a patch is checked while the one that it is for does not exist: with the containers of the patch and the label that it needs. */
import { field, fieldAt, type Deployment } from "#kube";
import type { WorkloadPatch } from "#workload-patch";

const IMAGE = "registry.k8s.io/pause:3.10";

export function smallestDeployment({ target, patch, envFrom, variables, consent }: WorkloadPatch): Deployment {
  const listed = fieldAt(patch, "spec", "template", "spec", "containers");
  const named = Array.isArray(listed) ? listed.map((container) => field(container, "name")) : [];
  const all = [...named, ...Object.keys(envFrom), ...Object.keys(variables)].filter((name) => typeof name === "string");
  const names = all.length === 0 ? ["main"] : [...new Set(all)];
  const labels = { "app.kubernetes.io/name": "lattice-patch-check" };
  const shared = consent === undefined ? {} : { [consent.label]: consent.values[0] ?? "" };
  const containers = names.map((name) => ({ name, image: IMAGE }));
  return {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { ...target, labels: shared },
    spec: { replicas: 0, selector: { matchLabels: labels }, template: { metadata: { labels }, spec: { containers } } },
  };
}
