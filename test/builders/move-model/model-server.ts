/**
 * An API server as small as a model test needs it, and fast: objects with uids, versions, generations, finalizers, field managers and status as a
 * subresource; merge patches and deletions with preconditions. Requests are executed one at a time, by the caller.
 */
import { err, ok, type Result } from "#base";
import { applyMergePatch } from "#patch";
import { fieldAt, groupResourceOf, jsonEqual, type Json, type JsonObject, type KubeObject, type ObjectKey, type Resource } from "#kube";
import type { DeleteOptions, KubeError, KubeErrorKind, ListQuery } from "#kube-client";

type Answer<T> = Result<T, KubeError>;
type Stored = KubeObject & JsonObject;

const failed = (kind: KubeErrorKind, message: string): Answer<never> => err({ kind, message });
const keyOf = ({ namespace = "", name }: ObjectKey) => `${namespace}/${name}`;

export class ModelServer {
  readonly name: string;
  readonly #kinds = new Map<string, Map<string, Stored>>();
  #version = 0;
  #uids = 0;

  constructor(name: string) {
    this.name = name;
  }

  all(resource: Resource): readonly KubeObject[] {
    return [...this.#of(resource).values()];
  }

  peek(resource: Resource, key: ObjectKey): KubeObject | undefined {
    return this.#of(resource).get(keyOf(key));
  }

  get(resource: Resource, key: ObjectKey): Answer<KubeObject> {
    const found = this.#of(resource).get(keyOf(key));
    return found === undefined ? failed("not-found", `${resource.plural} "${key.name}" not found`) : ok(found);
  }

  list(resource: Resource, { namespace, labelSelector }: ListQuery = {}) {
    const [label = "", value = ""] = (labelSelector ?? "").split("=");
    const items = this.all(resource).filter(
      ({ metadata }) =>
        (namespace === undefined || metadata.namespace === namespace) && (label === "" || metadata.labels?.[label] === value),
    );
    return ok({ items: items, metadata: { resourceVersion: String(this.#version) } });
  }

  create(resource: Resource, object: KubeObject, manager = "test"): Answer<KubeObject> {
    const { metadata, ...body } = object as Stored;
    if (this.#of(resource).has(keyOf(metadata))) return failed("already-exists", `${resource.plural} "${metadata.name}" already exists`);
    if (metadata.namespace !== undefined && resource.namespaced && !this.#kinds.get("namespaces")?.has(`/${metadata.namespace}`))
      return failed("not-found", `namespaces "${metadata.namespace}" not found`);
    const { status: _status, ...rest } = body;
    const stored = {
      ...(hasStatus(resource) ? rest : body),
      metadata: {
        ...metadata,
        uid: `${this.name}-${(this.#uids += 1)}`,
        generation: 1,
        creationTimestamp: "2026-01-01T00:00:00Z",
        managedFields: [{ manager, operation: "Update" }],
      },
    };
    return this.#store(resource, stored);
  }

  update(resource: Resource, object: KubeObject, { manager = "test", subresource = "" } = {}): Answer<KubeObject> {
    const found = this.#of(resource).get(keyOf(object.metadata));
    if (found === undefined) return failed("not-found", `${resource.plural} "${object.metadata.name}" not found`);
    if (isStale(found, object.metadata)) return failed("conflict", "the object has been modified");
    if (subresource === "status")
      return this.#store(resource, { ...found, status: (object as Stored)["status"] ?? {} } as unknown as Stored);
    return this.#change(resource, found, { body: object as Stored, manager });
  }

  patch(resource: Resource, key: ObjectKey, patch: Json, { manager = "test", subresource = "" } = {}): Answer<KubeObject> {
    const found = this.#of(resource).get(keyOf(key));
    if (found === undefined) return failed("not-found", `${resource.plural} "${key.name}" not found`);
    const [uid, resourceVersion] = [fieldAt(patch, "metadata", "uid"), fieldAt(patch, "metadata", "resourceVersion")];
    if (isStale(found, { uid, resourceVersion })) return failed("conflict", "the object has been modified");
    const merged = applyMergePatch(found, patch);
    if (!merged.ok) return failed("bad-request", "malformed patch");
    const body = merged.value as unknown as Stored;
    const isStatus = subresource === "status";
    if (isStatus) return this.#store(resource, { ...found, status: body["status"] ?? {} } as unknown as Stored);
    const managed = fieldAt(patch, "metadata", "managedFields") === undefined ? {} : { managed: body.metadata.managedFields };
    return this.#change(resource, found, { body, manager, ...managed });
  }

  delete(resource: Resource, key: ObjectKey, { preconditions = {} }: DeleteOptions = {}): Answer<boolean> {
    const found = this.#of(resource).get(keyOf(key));
    if (found === undefined) return ok(false);
    if (isStale(found, preconditions)) return failed("conflict", "the precondition does not hold");
    if ((found.metadata.finalizers ?? []).length === 0) this.#of(resource).delete(keyOf(key));
    else
      this.#store(resource, { ...found, metadata: { ...found.metadata, deletionTimestamp: "2026-01-01T00:00:00Z" } } as unknown as Stored);
    return ok(true);
  }

  #change(resource: Resource, found: Stored, { body, manager, managed }: Change): Answer<KubeObject> {
    const { uid, generation = 1, creationTimestamp, deletionTimestamp, managedFields = [], resourceVersion } = found.metadata;
    const sameSpec = jsonEqual(body["spec"] ?? null, found["spec"] ?? null);
    const own = managedFields.some((entry) => fieldAt(entry, "manager") === manager);
    const next = {
      ...body,
      ...(hasStatus(resource) ? { status: found["status"] } : {}),
      metadata: {
        ...body.metadata,
        uid,
        creationTimestamp,
        resourceVersion,
        ...(deletionTimestamp === undefined ? {} : { deletionTimestamp }),
        generation: sameSpec ? generation : generation + 1,
        managedFields: managed ?? (own ? managedFields : [...managedFields, { manager, operation: "Update" }]),
      },
    } as unknown as Stored;
    if (deletionTimestamp !== undefined && (next.metadata.finalizers ?? []).length === 0) {
      this.#of(resource).delete(keyOf(found.metadata));
      return ok(next);
    }
    return this.#store(resource, next);
  }

  /** A write that changes nothing keeps the version. */
  #store(resource: Resource, object: Stored): Answer<KubeObject> {
    const before = this.#of(resource).get(keyOf(object.metadata));
    if (before !== undefined && JSON.stringify(before) === JSON.stringify(object)) return ok(before);
    const stored = { ...object, metadata: { ...object.metadata, resourceVersion: String((this.#version += 1)) } } as unknown as Stored;
    this.#of(resource).set(keyOf(object.metadata), stored);
    return ok(stored);
  }

  #of(resource: Resource): Map<string, Stored> {
    const name = groupResourceOf(resource);
    const found = this.#kinds.get(name) ?? new Map<string, Stored>();
    this.#kinds.set(name, found);
    return found;
  }
}

type Change = { readonly body: Stored; readonly manager: string; readonly managed?: KubeObject["metadata"]["managedFields"] };

const hasStatus = ({ group }: Resource) => group === "cluster.x-k8s.io";

function isStale({ metadata }: KubeObject, wanted: { readonly uid?: unknown; readonly resourceVersion?: unknown }): boolean {
  const differs = (value: unknown, own: string | undefined) => value !== undefined && value !== "" && value !== own;
  return differs(wanted.uid, metadata.uid) || differs(wanted.resourceVersion, metadata.resourceVersion);
}
