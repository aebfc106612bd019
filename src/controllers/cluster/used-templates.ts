/**
 * Templates that something still refers to. A MachineSet of an old revision keeps its templates: a template that is deleted too early breaks a
 * rollout that is under way.
 */
import { field, fieldAt, type KubeObject } from "#kube";

/** "Kind namespace/name", of machine templates and kubeadm config templates. */
export function usedTemplates(users: readonly KubeObject[]): ReadonlySet<string> {
  return new Set(users.flatMap((user) => templateReferences(user).map(({ kind, name }) => `${kind} ${user.metadata.namespace ?? ""}/${name}`)));
}

type TemplateReference = { readonly kind: string; readonly name: string };

function templateReferences(user: KubeObject): readonly TemplateReference[] {
  return [
    // of a KubeadmControlPlane
    fieldAt(user, "spec", "machineTemplate", "spec", "infrastructureRef"),
    // of a MachineDeployment or MachineSet
    fieldAt(user, "spec", "template", "spec", "infrastructureRef"),
    fieldAt(user, "spec", "template", "spec", "bootstrap", "configRef"),
  ].flatMap((reference) => {
    const [kind, name] = [field(reference, "kind"), field(reference, "name")];
    return typeof kind === "string" && typeof name === "string" ? [{ kind, name }] : [];
  });
}
