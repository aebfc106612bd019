/**
 * The total number of Pods that the controllers of these Pods want. Deployments, ReplicaSets, StatefulSets and ReplicationControllers are
 * read from informers; for any other kind the scale subresource is read.
 */
import { err, map, ok, type Result } from "#base";
import {
  deployments,
  field,
  fieldAt,
  groupResourceOf,
  parseJson,
  pathOf,
  replicaSets,
  replicationControllers,
  statefulSets,
  type KubeObject,
  type OwnerReference,
  type Pod,
  type Resource,
} from "#kube";
import type { KubeControllerContext } from "../context.ts";
import { MAX_INT32 } from "./budget.ts";

type Scalable = KubeObject & { readonly spec?: { readonly replicas?: number } };

export type PodScale = {
  readonly wanted: number;
  /** Names of Pods without a controller. */
  readonly unmanaged: readonly string[];
};

type Found = Result<{ readonly uid: string; readonly replicas: number } | undefined, string>;

export class PodScales {
  readonly #context: KubeControllerContext;

  /** Requests informers, so it is created in `start`. */
  constructor(context: KubeControllerContext) {
    this.#context = context;
    const kinds: readonly Resource<Scalable>[] = [deployments, replicaSets, replicationControllers, statefulSets];
    for (const kind of kinds) context.informers.of(kind);
    context.everyKind();
  }

  async of(pods: readonly Pod[], signal: AbortSignal): Promise<Result<PodScale, string>> {
    const scales = new Map<string, number>();
    const unmanaged: string[] = [];
    const asked = new Set<string>();
    for (const pod of pods) {
      const owner = controllerOf(pod);
      if (owner === undefined) unmanaged.push(pod.metadata.name);
      if (owner === undefined || asked.has(owner.uid)) continue;
      asked.add(owner.uid);
      const found = await this.#find(owner, pod.metadata.namespace ?? "", signal);
      if (!found.ok) return found;
      if (found.value === undefined) return err(`found no controllers for pod "${pod.metadata.name}"`);
      scales.set(found.value.uid, found.value.replicas);
    }
    const wanted = [...scales.values()].reduce((sum, replicas) => sum + replicas, 0);
    return ok({ wanted: Math.min(wanted, MAX_INT32), unmanaged });
  }

  async #find(owner: OwnerReference, namespace: string, signal: AbortSignal): Promise<Found> {
    const group = owner.apiVersion.includes("/") ? owner.apiVersion.split("/")[0] : "";
    const isApps = group === "apps" || group === "extensions";
    if (group === "" && owner.kind === "ReplicationController") return ok(this.#cached(replicationControllers, owner, namespace));
    if (group === "apps" && owner.kind === "StatefulSet") return ok(this.#cached(statefulSets, owner, namespace));
    if (!isApps || owner.kind !== "ReplicaSet") return this.#askScale(owner, namespace, signal);
    const set = this.#context.informers.of(replicaSets).get({ namespace, name: owner.name });
    const above = set === undefined ? undefined : controllerOf(set);
    if (above?.kind === "Deployment") return ok(this.#cached(deployments, above, namespace));
    return ok(this.#cached(replicaSets, owner, namespace));
  }

  #cached(kind: Resource<Scalable>, { name, uid }: OwnerReference, namespace: string) {
    const found = this.#context.informers.of(kind).get({ namespace, name });
    return found?.metadata.uid === uid ? { uid, replicas: found.spec?.replicas ?? 1 } : undefined;
  }

  async #askScale({ apiVersion, kind, name, uid }: OwnerReference, namespace: string, signal: AbortSignal): Promise<Found> {
    const everyKind = this.#context.everyKind();
    await everyKind.ready();
    const resource = everyKind.find(apiVersion, kind);
    if (resource === undefined) return err(`no matches for kind "${kind}" in version "${apiVersion}"`);
    if (!resource.scalable) return err(`${groupResourceOf(resource)} does not implement the scale subresource`);
    const answer = await this.#context.client.raw(pathOf(resource, { namespace, name, subresource: "scale" }), { signal });
    if (!answer.ok) return answer.error.kind === "not-found" ? ok(undefined) : err(answer.error.message);
    return map(parseJson(answer.value), (scale) => {
      const replicas = fieldAt(scale, "spec", "replicas");
      if (field(field(scale, "metadata"), "uid") !== uid) return undefined;
      return { uid, replicas: typeof replicas === "number" ? replicas : 0 };
    });
  }
}

function controllerOf({ metadata }: KubeObject): OwnerReference | undefined {
  return metadata.ownerReferences?.find(({ controller }) => controller === true);
}
