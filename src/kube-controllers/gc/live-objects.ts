/**
 * The garbage collector's requests to the API server: metadata is read, owner references and finalizers are removed, objects
 * are deleted. Every write has the uid as precondition, and most the resourceVersion, so acting on a stale cache does no harm.
 */
import { err, ok, type Result } from "#base";
import { jsonEqual, metadataOf, type Json, type KubeObject, type ObjectKey, type OwnerReference } from "#kube";
import type { ClientResult, DeleteOptions, KubeClient, KubeError, PatchBody } from "#kube-client";
import type { EveryKind } from "../every-kind.ts";
import type { ServedResource } from "../discovery.ts";
import type { Identity } from "./identity.ts";

/** Why an object cannot be requested. */
export type Unknown = { readonly kind: "kind-not-served" } | { readonly kind: "needs-namespace" };

export type ObjectPlace = { readonly resource: ServedResource; readonly key: ObjectKey };

const TRIES = 5;

export class LiveObjects {
  readonly #client: KubeClient;
  readonly #everyKind: EveryKind;
  /** Kinds without strategic merge: custom resources. */
  readonly #plain = new Set<string>();

  constructor(client: KubeClient, everyKind: EveryKind) {
    this.#client = client;
    this.#everyKind = everyKind;
  }

  placeOf({ apiVersion, kind, namespace, name }: Identity): Result<ObjectPlace, Unknown> {
    const resource = this.#everyKind.find(apiVersion, kind);
    if (resource === undefined) return err({ kind: "kind-not-served" });
    if (resource.namespaced && namespace === "") return err({ kind: "needs-namespace" });
    return ok({ resource, key: resource.namespaced ? { namespace, name } : { name } });
  }

  /** From the cache if an informer has it; undefined does not mean that it is absent on the server. */
  cached({ resource, key }: ObjectPlace, uid: string): KubeObject | undefined {
    const object = this.#everyKind.syncedInformer(resource)?.get(key);
    return object?.metadata.uid === uid ? object : undefined;
  }

  /** From the server; undefined: no object has this uid. */
  async get({ resource, key }: ObjectPlace, uid: string, signal: AbortSignal): Promise<Result<KubeObject | undefined, KubeError>> {
    const answer = await this.#client.get(metadataOf(resource), key, { signal });
    if (!answer.ok) return answer.error.kind === "not-found" ? ok(undefined) : answer;
    return ok(answer.value.metadata.uid === uid ? answer.value : undefined);
  }

  /** False when it was already deleted. A conflict is returned only if the owners changed: other changes do not matter. */
  async delete(
    place: ObjectPlace,
    known: KubeObject,
    propagation: DeleteOptions["propagation"],
    signal: AbortSignal,
  ): ClientResult<boolean> {
    const { uid = "", resourceVersion = "", ownerReferences } = known.metadata;
    const how = { signal, ...(propagation === undefined ? {} : { propagation }) };
    const answer = await this.#client.delete(place.resource, place.key, { ...how, preconditions: { uid, resourceVersion } });
    if (answer.ok || answer.error.kind !== "conflict") return answer;
    const live = await this.get(place, uid, signal);
    if (!live.ok) return live;
    if (live.value === undefined) return ok(false);
    if (!jsonEqual(live.value.metadata.ownerReferences ?? [], ownerReferences ?? [])) return answer;
    return this.#client.delete(place.resource, place.key, { ...how, preconditions: { uid } });
  }

  removeOwners(place: ObjectPlace, known: KubeObject, owners: ReadonlySet<string>, signal: AbortSignal): ClientResult<unknown> {
    const left = (known.metadata.ownerReferences ?? []).filter(({ uid }) => !owners.has(uid));
    return this.#patchOwners(place, known, { strategic: [...owners].map((uid) => ({ $patch: "delete", uid })), plain: left }, signal);
  }

  /** Removes blockOwnerDeletion, so that no owner waits for this object any more. */
  unblockOwners(place: ObjectPlace, known: KubeObject, signal: AbortSignal): ClientResult<unknown> {
    const freed = (known.metadata.ownerReferences ?? []).map((owner) => ({ ...owner, blockOwnerDeletion: false }));
    return this.#patchOwners(place, known, { strategic: freed, plain: freed }, signal);
  }

  async removeFinalizer(place: ObjectPlace, known: KubeObject, finalizer: string, signal: AbortSignal): ClientResult<unknown> {
    let object: KubeObject | undefined = known;
    for (let tries = 1; ; tries += 1) {
      const { finalizers = [], resourceVersion = "", uid = "" } = object.metadata;
      if (!finalizers.includes(finalizer)) return ok(undefined);
      const patch: Json = { metadata: { resourceVersion, finalizers: finalizers.filter((name) => name !== finalizer) } };
      const answer = await this.#client.patch(place.resource, place.key, { type: "merge", patch }, { signal });
      if (answer.ok || answer.error.kind === "not-found") return ok(undefined);
      if (answer.error.kind !== "conflict" || tries >= TRIES) return answer;
      const live: Result<KubeObject | undefined, KubeError> = await this.get(place, uid, signal);
      if (!live.ok || live.value === undefined) return live;
      object = live.value;
    }
  }

  /** A strategic merge patch where the kind supports it: it needs no resourceVersion. Else a merge patch of the whole list, as it was read. */
  async #patchOwners(
    { resource, key }: ObjectPlace,
    { metadata }: KubeObject,
    owners: { readonly strategic: readonly Json[]; readonly plain: readonly OwnerReference[] },
    signal: AbortSignal,
  ): ClientResult<unknown> {
    const { uid = "", resourceVersion = "" } = metadata;
    const send = (body: PatchBody) => this.#client.patch(resource, key, body, { signal });
    const kind = `${resource.group}/${resource.kind}`;
    if (!this.#plain.has(kind)) {
      const answer = await send({ type: "strategic", patch: { metadata: { uid, ownerReferences: owners.strategic } } });
      if (answer.ok || answer.error.kind !== "unsupported-media-type") return answer;
      this.#plain.add(kind);
    }
    return send({ type: "merge", patch: { metadata: { resourceVersion, ownerReferences: owners.plain } } });
  }
}
