/** The Deployments that services in patch mode name, from the informers: their ServiceAccounts, and who made them. */
import { workloadFacts, type WorkloadFacts } from "#compile";
import { ownerKeyOf, type CacheReader } from "#controller-runtime";
import { deployments, field, fieldAt, isBeingDeleted, jsonEqual, keyText, type KubeObject } from "#kube";
import { CONTROLLER_NAME } from "../owned-kinds.ts";

export class Workloads {
  #cache: CacheReader | undefined;

  follow(cache: CacheReader): void {
    this.#cache = cache;
  }

  find(namespace: string, name: string): WorkloadFacts | undefined {
    return factsOf(this.#cache?.get(deployments, { namespace, name }));
  }
}

/** Whether a change is one that policies or permissions depend on. */
export function changesFacts(before: KubeObject | undefined, after: KubeObject | undefined): boolean {
  return !jsonEqual(factsOf(before) ?? null, factsOf(after) ?? null);
}

function factsOf(deployment: KubeObject | undefined): WorkloadFacts | undefined {
  if (deployment === undefined || isBeingDeleted(deployment)) return undefined;
  const owner = ownerKeyOf(deployment, CONTROLLER_NAME);
  return workloadFacts(deployment, owner === undefined ? undefined : keyText(owner));
}

/** `namespace/name` of the Deployment that a LatticeService names. */
export function workloadOfService(service: KubeObject | undefined): readonly string[] {
  const ref = fieldAt(service, "spec", "workloadRef");
  const [namespace, name] = [field(ref, "namespace"), field(ref, "name")];
  return typeof namespace === "string" && typeof name === "string" ? [keyText({ namespace, name })] : [];
}
