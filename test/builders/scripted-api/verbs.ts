/** GET, LIST and the writes, on the store. Each gives an outcome; faults and bytes are somebody else's. */
import { isJsonObject, type Json } from "#kube";
import { Ownership } from "./ownership.ts";
import { keyOfTarget, selectionOf, type ParsedRequest } from "./request.ts";
import { refuse, type Outcome } from "./status-answer.ts";
import type { Store, StoredObject } from "./store.ts";

export class Verbs {
  readonly #store: Store;
  /** Pages still to come, by continue token; a compaction forgets them. */
  readonly #pages = new Map<string, { readonly items: readonly StoredObject[]; readonly revision: number }>();
  #tokens = 0;

  constructor(store: Store) {
    this.#store = store;
  }

  run(request: ParsedRequest): Outcome {
    const { method, name } = request;
    if (method === "GET") return name === undefined ? this.#list(request) : this.#get(request, name);
    if (method === "POST") return this.#create(request);
    if (name === undefined) return refuse(405, "the server does not allow this method on the requested resource", "MethodNotAllowed");
    if (method === "DELETE") return this.#delete(request, name);
    return method === "PUT" ? this.#update(request, name) : this.#patch(request, name);
  }

  #get(request: ParsedRequest, name: string): Outcome {
    const found = this.#store.find(request.collection, keyOfTarget(request, name));
    return found === undefined ? notFound(request, name) : { code: 200, body: found.object };
  }

  #list(request: ParsedRequest): Outcome {
    const token = request.query.get("continue");
    const page = token === null ? undefined : this.#pages.get(token);
    if (token !== null && (page === undefined || page.revision < this.#store.compactedTo)) {
      return refuse(410, "The provided continue parameter is too old to display a consistent list result.");
    }
    const revision = page?.revision ?? this.#store.revision;
    const items = page?.items ?? this.#store.list(request.collection).filter(selectionOf(request));
    const limit = Number(request.query.get("limit") ?? 0) || items.length;
    const rest = items.slice(limit);
    const next = rest.length === 0 ? {} : { continue: this.#keep({ items: rest, revision }), remainingItemCount: rest.length };
    const metadata = { resourceVersion: String(revision), ...next };
    return { code: 200, body: { kind: "List", apiVersion: "v1", metadata, items: items.slice(0, limit) } };
  }

  #keep(page: { items: readonly StoredObject[]; revision: number }): string {
    const token = `page-${(this.#tokens += 1)}`;
    this.#pages.set(token, page);
    return token;
  }

  #create(request: ParsedRequest): Outcome {
    const body = request.body as StoredObject;
    const name = body.metadata.name ?? `${body.metadata.generateName ?? ""}${(this.#tokens += 1)}`;
    if (body.metadata.resourceVersion !== undefined) return refuse(400, "resourceVersion should not be set on objects to be created");
    if (this.#store.find(request.collection, keyOfTarget(request, name)) !== undefined) {
      return refuse(409, `${request.collection} "${name}" already exists`, "AlreadyExists");
    }
    const object = placed(withoutStatus(body), request, name);
    const ownership = new Ownership().updated({}, object, managerOf(request));
    return { code: 201, body: dryRun(request) ? object : this.#store.create(request.collection, { object, ownership }) };
  }

  #update(request: ParsedRequest, name: string): Outcome {
    const body = request.body as StoredObject;
    if (body.metadata.resourceVersion === undefined) return refuse(422, "metadata.resourceVersion: must be specified for an update");
    return this.#change(request, name, () => body);
  }

  #patch(request: ParsedRequest, name: string): Outcome {
    if (request.contentType.startsWith("application/apply-patch")) return this.#apply(request, name);
    if (!request.contentType.startsWith("application/merge-patch")) return refuse(415, `the scripted API knows no ${request.contentType}`);
    return this.#change(request, name, (before) => mergePatch(before as Json, request.body as Json) as StoredObject);
  }

  #change(request: ParsedRequest, name: string, edit: (before: StoredObject) => StoredObject): Outcome {
    const found = this.#store.find(request.collection, keyOfTarget(request, name));
    if (found === undefined) return notFound(request, name);
    const edited = edit(found.object);
    if (!isCurrent(found.object, edited)) return conflict(name);
    const object = placed(limited(request, found.object, edited), request, name);
    const ownership = found.ownership.updated(found.object, object, managerOf(request));
    return { code: 200, body: dryRun(request) ? object : this.#store.replace(request.collection, found.object, { object, ownership }) };
  }

  #apply(request: ParsedRequest, name: string): Outcome {
    const found = this.#store.find(request.collection, keyOfTarget(request, name));
    const wanted = limitedApply(request, request.body as StoredObject);
    if (found === undefined && request.subresource !== undefined) return notFound(request, name);
    if (found !== undefined && !isCurrent(found.object, wanted)) return conflict(name);
    if (found === undefined && (wanted.metadata.uid ?? wanted.metadata.resourceVersion) !== undefined) return conflict(name);
    const current = found?.object ?? { apiVersion: wanted.apiVersion, kind: wanted.kind, metadata: { name } };
    // the status and the rest have owners of their own, even when the manager's name is the same
    const manager = [managerOf(request), request.subresource ?? ""].join("/");
    const applied = (found?.ownership ?? new Ownership()).applied(current, wanted, manager, request.query.get("force") === "true");
    if (applied.conflicts.length > 0) return refuse(409, `Apply failed with conflicts: ${applied.conflicts.join("; ")}`);
    const write = { object: placed(applied.object as unknown as StoredObject, request, name), ownership: applied.ownership };
    if (dryRun(request)) return { code: 200, body: write.object };
    if (found === undefined) return { code: 201, body: this.#store.create(request.collection, write) };
    return { code: 200, body: this.#store.replace(request.collection, found.object, write) };
  }

  #delete(request: ParsedRequest, name: string): Outcome {
    const found = this.#store.find(request.collection, keyOfTarget(request, name));
    if (found === undefined) return notFound(request, name);
    const wanted = isJsonObject(request.body) && isJsonObject(request.body["preconditions"]) ? request.body["preconditions"] : {};
    if (!isCurrent(found.object, { metadata: wanted })) return conflict(name);
    if (dryRun(request)) return { code: 200, body: found.object };
    return { code: 200, body: this.#store.delete(request.collection, found.object) };
  }
}

export function mergePatch(target: Json | undefined, patch: Json): Json {
  if (!isJsonObject(patch)) return patch;
  const result: Record<string, Json | undefined> = isJsonObject(target) ? { ...target } : {};
  for (const [name, value] of Object.entries(patch)) {
    if (value === null || value === undefined) delete result[name];
    else result[name] = mergePatch(result[name], value);
  }
  return result;
}

function managerOf(request: ParsedRequest): string {
  return request.query.get("fieldManager") ?? (request.actor.split("/")[0] || "unknown");
}

function dryRun(request: ParsedRequest): boolean {
  return request.query.get("dryRun") === "All";
}

/** The uid and resourceVersion that the writer names, if any, are the object's. */
function isCurrent(current: StoredObject, { metadata }: { metadata: { uid?: string; resourceVersion?: string } }): boolean {
  const { uid, resourceVersion } = metadata;
  return (
    (uid ?? current.metadata.uid) === current.metadata.uid &&
    (resourceVersion ?? current.metadata.resourceVersion) === current.metadata.resourceVersion
  );
}

/** /status changes the status only; the main endpoint everything else. */
function limited(request: ParsedRequest, before: StoredObject, edited: StoredObject): StoredObject {
  const [rest, status] = request.subresource === "status" ? [before, edited["status"]] : [edited, before["status"]];
  return status === undefined ? withoutStatus(rest) : { ...rest, status };
}

function limitedApply(request: ParsedRequest, wanted: StoredObject): StoredObject {
  if (request.subresource !== "status") return withoutStatus(wanted);
  const { uid, resourceVersion, name } = wanted.metadata;
  const metadata = { name, ...(uid === undefined ? {} : { uid }), ...(resourceVersion === undefined ? {} : { resourceVersion }) };
  return { apiVersion: wanted.apiVersion, kind: wanted.kind, metadata, status: wanted["status"] };
}

function withoutStatus({ status: _status, ...object }: StoredObject): StoredObject {
  return object;
}

function placed(object: StoredObject, request: ParsedRequest, name: string): StoredObject {
  const { managedFields: _managedFields, deletionTimestamp: _deletionTimestamp, ...metadata } = object.metadata;
  return { ...object, metadata: { ...metadata, name, ...(request.namespace === undefined ? {} : { namespace: request.namespace }) } };
}

function notFound(request: ParsedRequest, name: string): Outcome {
  return refuse(404, `${request.collection} "${name}" not found`);
}

function conflict(name: string): Outcome {
  return refuse(
    409,
    `Operation cannot be fulfilled on "${name}": the object has been modified; please apply your changes to the latest version and try again`,
  );
}
