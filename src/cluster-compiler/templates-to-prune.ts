/** Which templates of a cluster are no longer used. A template with another content has another name, so that old ones remain after a change. */
import { field, fieldAt, type KubeObject } from "#kube";

/**
 * Templates that no referrer names. Referrers are the KubeadmControlPlanes, MachineDeployments and MachineSets of the same namespace: a MachineSet of an
 * earlier revision still makes machines from its template while a rollout is under way.
 */
export function templatesToPrune(existing: readonly KubeObject[], referrers: readonly KubeObject[]): readonly KubeObject[] {
  const used = new Set(referrers.flatMap(templatesOf));
  return existing.filter(({ kind, metadata }) => !used.has(`${kind}/${metadata.namespace ?? ""}/${metadata.name}`));
}

function templatesOf(referrer: KubeObject): readonly string[] {
  const places = [
    fieldAt(referrer, "spec", "machineTemplate", "spec", "infrastructureRef"),
    fieldAt(referrer, "spec", "template", "spec", "infrastructureRef"),
    fieldAt(referrer, "spec", "template", "spec", "bootstrap", "configRef"),
  ];
  return places.flatMap((reference) => {
    const [kind, name] = [field(reference, "kind"), field(reference, "name")];
    return typeof kind === "string" && typeof name === "string" ? [`${kind}/${referrer.metadata.namespace ?? ""}/${name}`] : [];
  });
}
