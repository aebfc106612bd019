/** Why a machine must be replaced: the fields that start a rollout. Other fields are changed in place, as in the real controllers. */
import { fieldAt, jsonEqual, type Json, type KubeObject } from "#kube";
import type { CapiCaches } from "./caches.ts";
import { CLONED_FROM_NAME } from "./names.ts";
import { objectAt, refAt, textAt, versionOf, type CapiObject } from "./objects.ts";

/** Compares the template of a MachineSet with that of its MachineDeployment. */
export function staleTemplate(set: KubeObject | undefined, deployment: KubeObject | undefined): readonly string[] {
  return differences(objectAt(set, "spec", "template", "spec"), objectAt(deployment, "spec", "template", "spec"));
}

function differences(current: unknown, desired: unknown): readonly string[] {
  const reasons: string[] = [];
  const [from, to] = [textAt(current, "version") ?? "", textAt(desired, "version") ?? ""];
  if (from !== to) reasons.push(`Version ${from}, ${to} required`);
  if (!jsonEqual(fieldAt(current, "bootstrap") ?? {}, fieldAt(desired, "bootstrap") ?? {})) {
    reasons.push(`${kindOf(current, "bootstrap", "configRef")} is not up-to-date`);
  }
  if (!jsonEqual(fieldAt(current, "infrastructureRef") ?? {}, fieldAt(desired, "infrastructureRef") ?? {})) {
    reasons.push(`${kindOf(current, "infrastructureRef")} is not up-to-date`);
  }
  const [domain, wanted] = [textAt(current, "failureDomain") ?? "", textAt(desired, "failureDomain") ?? ""];
  if (domain !== wanted) reasons.push(`Failure domain ${domain}, ${wanted} required`);
  return reasons;
}

const kindOf = (template: unknown, ...path: readonly string[]) =>
  (refAt(template, ...path)?.kind ?? "Bootstrap config").replace(/Template$/, "");

/** Compares a control-plane machine, its config and its infrastructure with the control plane. */
export function staleReasons(caches: CapiCaches, machine: CapiObject, controlPlane: CapiObject): readonly string[] {
  const reasons: string[] = [];
  const { namespace } = machine.metadata;
  const [from, to] = [versionOf(machine), textAt(controlPlane, "spec", "version") ?? ""];
  if (from !== to) reasons.push(`Version ${from}, ${to} required`);
  const after = textAt(controlPlane, "spec", "rollout", "after");
  if (after !== undefined && (machine.metadata.creationTimestamp ?? "") < after)
    reasons.push("KubeadmControlPlane spec.rolloutAfter expired");
  const config = caches.resolve(namespace, refAt(machine, "spec", "bootstrap", "configRef"));
  if (config !== undefined && !isSameConfig(config, controlPlane)) reasons.push("KubeadmConfig is not up-to-date");
  const infrastructure = caches.resolve(namespace, refAt(machine, "spec", "infrastructureRef"));
  const template = refAt(controlPlane, "spec", "machineTemplate", "spec", "infrastructureRef");
  const source = infrastructure?.metadata.annotations?.[CLONED_FROM_NAME];
  if (source !== undefined && source !== template?.name) reasons.push(`${infrastructure?.kind ?? ""} is not up-to-date`);
  return reasons;
}

/** The machine that ran `init` has no joinConfiguration and the others no initConfiguration; discovery and endpoint are filled in later. */
function isSameConfig(config: CapiObject, controlPlane: CapiObject): boolean {
  const have = objectAt(config, "spec");
  const want = objectAt(controlPlane, "spec", "kubeadmConfigSpec");
  const common = (spec: Readonly<Record<string, Json | undefined>>) => {
    const { clusterConfiguration: _cluster, initConfiguration: _init, joinConfiguration: _join, ...rest } = spec;
    return rest;
  };
  if (!jsonEqual(common(have), common(want))) return false;
  const phase = have["joinConfiguration"] === undefined ? "initConfiguration" : "joinConfiguration";
  return jsonEqual(fieldAt(have, phase, "nodeRegistration") ?? {}, fieldAt(want, phase, "nodeRegistration") ?? {});
}
