/** Namespaces: new objects need one that exists and is not terminating. Four are created with the server. */
import { ok, timestamp, type Result } from "#base";
import { fieldAt, type KubeObject } from "#kube";
import { trackUpdate } from "../apply/index.ts";
import { newUid, type RequestContext, type Core } from "./core.ts";
import { asJsonObject, asObject, managedKind } from "./managed-kinds.ts";
import { metaText, withMetadata } from "./object-meta.ts";
import { badRequest, forbidden, notFound, type Failure } from "./status.ts";

export const NAMESPACES = { group: "", version: "v1", plural: "namespaces" } as const;
const FIRST_NAMESPACES = ["kube-system", "kube-public", "kube-node-lease", "default"] as const;

export function checkNamespace({ core, target }: Pick<RequestContext, "core" | "target">, object: KubeObject): Result<void, Failure> {
  const { namespace, type } = target;
  if (namespace === undefined || namespace === "") return ok(undefined);
  const namespaces = core.types.find(NAMESPACES.group, NAMESPACES.version, NAMESPACES.plural);
  if (namespaces === undefined) return ok(undefined);
  const found = core.store.get(namespaces.collection, namespace);
  if (found === undefined) return notFound({ resource: namespaces.resource, name: namespace });
  if (metaText(found.object, "deletionTimestamp") === "" && fieldAt(found.object, "status", "phase") !== "Terminating")
    return ok(undefined);
  const cause = { reason: "NamespaceTerminating", message: `namespace ${namespace} is being terminated`, field: "metadata.namespace" };
  const why = `unable to create new content in namespace ${namespace} because it is being terminated`;
  return forbidden({ resource: type.resource, name: metaText(object, "name") }, why, [cause]);
}

/** metadata.namespace must match the path. Checked again after admission, because a webhook may change it. */
export function matchNamespace(call: RequestContext, object: KubeObject): Result<KubeObject, Failure> {
  const { namespace, type } = call.target;
  const own = metaText(object, "namespace");
  // for cluster-scoped kinds the field is dropped without an error
  if (!type.resource.namespaced) return ok(own === "" ? object : withMetadata(object, { namespace: undefined }));
  if (own === "") return ok(withMetadata(object, { namespace }));
  return own === namespace
    ? ok(object)
    : badRequest("the namespace of the provided object does not match the namespace sent on the request");
}

/** For a request with a name in its path: metadata.name is required and must match, too. */
export function matchNameAndNamespace(call: RequestContext, object: KubeObject): Result<KubeObject, Failure> {
  const placed = matchNamespace(call, object);
  if (!placed.ok) return placed;
  const { name = "" } = call.target;
  const own = metaText(object, "name");
  if (own === "") return badRequest(`the name of the object (${name} based on URL) was undeterminable: name must be provided`);
  if (own !== name) return badRequest(`the name of the object (${own}) does not match the name on the URL (${name})`);
  return placed;
}

/** Created with the field manager kube-apiserver; a reopened store has them already. */
export function ensureFirstNamespaces(core: Core): void {
  const type = core.types.find(NAMESPACES.group, NAMESPACES.version, NAMESPACES.plural);
  if (type === undefined) return;
  for (const name of FIRST_NAMESPACES) {
    if (core.store.get(type.collection, name) !== undefined) continue;
    const bare = type.applyDefaults({ apiVersion: "v1", kind: "Namespace", metadata: { name } });
    const kind = managedKind(core.types, type, undefined);
    const tracked = trackUpdate({
      ...kind,
      manager: "kube-apiserver",
      now: timestamp(core.clock),
      old: undefined,
      next: asJsonObject(bare),
    });
    const prepared = withMetadata(type.prepareForCreate(tracked.ok ? asObject(tracked.value) : bare), {
      uid: newUid(core.random),
      creationTimestamp: timestamp(core.clock),
    });
    const stored = type.toStorage(prepared);
    const object = (revision: number) => withMetadata(stored, { resourceVersion: String(revision) });
    core.store.write({ collection: type.collection, key: name, expected: undefined, object });
  }
}
