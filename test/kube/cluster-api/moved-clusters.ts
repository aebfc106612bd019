/** The objects of a cluster on a real API server, as two moves of it are compared: copied, emptied, and without what differs in any case. */
import { expectOk } from "#base";
import { fieldAt, isJsonObject, secrets, type Json, type KubeObject, type Resource } from "#kube";
import type { KubeClient } from "#kube-client";
import { MOVED_KINDS } from "../../builders/move-world.ts";

type Contents = ReadonlyMap<string, Json>;
type Owner = { readonly kind: string; readonly name: string };

const resourceOf = (what: string): Resource => MOVED_KINDS.find(({ kind }) => kind === what.split(" ")[0]) ?? secrets;

/** Creates the same objects, owners first, with their status. `contents`: of `contentsOf`. */
export async function cloneInto(client: KubeClient, contents: Contents): Promise<void> {
  const uids = new Map<string, string>();
  const waiting = new Map(contents);
  while (waiting.size > 0) {
    const before = waiting.size;
    for (const [what, content] of waiting) {
      const { metadata, status, ...body } = content as unknown as KubeObject & { readonly status?: Json };
      const {
        managedFields: _managers,
        generateName: _generated,
        ownerReferences = [],
        ...meta
      } = metadata as KubeObject["metadata"] & { generateName?: string };
      const owners = ownerReferences.map((owner) => ({ ...owner, uid: uids.get(textOf(owner)) ?? "" }));
      if (owners.some(({ uid }) => uid === "")) continue;
      const resource = resourceOf(what);
      const group = resource.group === "" ? resource.version : `${resource.group}/${resource.version}`;
      const object = {
        ...body,
        apiVersion: group,
        kind: resource.kind,
        metadata: { ...meta, ...(owners.length === 0 ? {} : { ownerReferences: owners }) },
      };
      const created = expectOk(await client.create(resource, object as KubeObject));
      const key = { namespace: meta.namespace, name: meta.name };
      if (status !== undefined)
        expectOk(await client.patch(resource, key, { type: "merge", patch: { status } }, { subresource: "status" }));
      uids.set(textOf({ kind: resource.kind, name: meta.name }), created.metadata.uid ?? "");
      waiting.delete(what);
    }
    if (waiting.size === before) throw new Error(`owners are missing of ${[...waiting.keys()].join(", ")}`);
  }
}

const textOf = ({ kind, name }: Owner) => `${kind} ${name}`;

/** Deletes them without their controllers. */
export async function emptyNamespace(client: KubeClient, contents: Contents): Promise<void> {
  for (const what of [...contents.keys()].toReversed()) {
    const [namespace = "", name = ""] = (what.split(" ")[1] ?? "").split("/");
    const resource = resourceOf(what);
    await client.patch(resource, { namespace, name }, { type: "merge", patch: { metadata: { finalizers: [] } } });
    await client.delete(resource, { namespace, name }, { propagation: "Orphan" });
  }
}

/** `hidden`: names of fields, at any depth. */
export function comparable(content: Json | undefined, hidden: readonly string[]): Json {
  if (Array.isArray(content)) return content.map((item) => comparable(item as Json, hidden));
  if (!isJsonObject(content)) return content ?? null;
  const kept = Object.entries(content).filter(([name]) => !hidden.includes(name));
  return Object.fromEntries(kept.map(([name, value]) => [name, comparable(value, hidden)]));
}

export const managersOf = (content: Json | undefined): readonly string[] => {
  const entries = fieldAt(content, "metadata", "managedFields");
  return (Array.isArray(entries) ? entries : [])
    .map((entry) => JSON.stringify([fieldAt(entry, "manager"), fieldAt(entry, "subresource")]))
    .toSorted();
};
