/** Creates one object of any kind in a child. An existing object is left as it is, unless it must be updated. */
import { err, ok, type Result } from "#base";
import { fieldAt, parseJson, type JsonObject, type KubeObject, type Resource } from "#kube";
import type { KubeClient } from "#kube-client";
import { listAt, objectAt, textAt } from "../objects.ts";

export async function applyDocument(client: KubeClient, document: JsonObject, update: boolean): Promise<Result<void, string>> {
  const [apiVersion, kind, name] = [textAt(document, "apiVersion"), textAt(document, "kind"), textAt(document, "metadata", "name")];
  if (apiVersion === undefined || kind === undefined || name === undefined)
    return err("a document has no apiVersion, kind or metadata.name");
  const resource = await resourceOfKind(client, apiVersion, kind);
  if (!resource.ok) return resource;
  const object = { ...document, apiVersion, kind, metadata: { ...metadataOf(document, resource.value), name } };
  if (update) {
    const applied = await client.apply(resource.value, object, { fieldManager: "clusterresourceset", force: true });
    return applied.ok ? ok(undefined) : err(`${kind} ${name}: ${applied.error.message}`);
  }
  const created = await client.create<KubeObject>(resource.value, object);
  return created.ok || created.error.kind === "already-exists" ? ok(undefined) : err(`${kind} ${name}: ${created.error.message}`);
}

function metadataOf(document: JsonObject, { namespaced }: Resource): JsonObject {
  const metadata = objectAt(document, "metadata");
  return namespaced ? { namespace: "default", ...metadata } : metadata;
}

/** Asks discovery: a set may contain any kind, also one that an earlier document defines. */
async function resourceOfKind(client: KubeClient, apiVersion: string, kind: string): Promise<Result<Resource, string>> {
  const [group, version] = apiVersion.includes("/") ? apiVersion.split("/", 2) : ["", apiVersion];
  const path = group === "" ? `/api/${version}` : `/apis/${group}/${version}`;
  const answer = await client.raw(path);
  if (!answer.ok) return err(`${kind} of ${apiVersion}: ${answer.error.message}`);
  const parsed = parseJson(answer.value);
  const found = listAt(parsed.ok ? parsed.value : {}, "resources").find(
    (one) => textAt(one, "kind") === kind && !(textAt(one, "name") ?? "/").includes("/"),
  );
  if (found === undefined) return err(`${apiVersion} has no kind ${kind} in the workload cluster`);
  return ok({
    group: group ?? "",
    version: version ?? "",
    kind,
    plural: textAt(found, "name") ?? "",
    namespaced: fieldAt(found, "namespaced") === true,
  });
}
