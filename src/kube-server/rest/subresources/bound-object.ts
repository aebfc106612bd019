/** The object to which a token is bound: a Pod of the service account, a Secret, or a Node. */
import { ok, type Result } from "#base";
import { field, fieldAt, type JsonObject, type KubeObject } from "#kube";
import type { RequestContext } from "../../protocol/core.ts";
import { badRequest, conflict, notFound, type Failure } from "../../protocol/status.ts";
import type { BoundObjects } from "../../protocol/auth-port.ts";

const PLURALS: ReadonlyMap<string, string> = new Map([
  ["Pod", "pods"],
  ["Secret", "secrets"],
  ["Node", "nodes"],
]);

export function boundObject(call: RequestContext, reference: JsonObject): Result<BoundObjects, Failure> {
  const [kind, apiVersion] = [textAt(reference, "kind"), textAt(reference, "apiVersion")];
  const [name, uid] = [textAt(reference, "name"), textAt(reference, "uid")];
  const slash = apiVersion.indexOf("/");
  const plural = slash < 0 ? PLURALS.get(kind) : undefined;
  const type = plural === undefined ? undefined : call.core.types.find("", "v1", plural);
  if (plural === undefined || type === undefined) {
    const [group, version] = slash < 0 ? ["", apiVersion] : [apiVersion.slice(0, slash), apiVersion.slice(slash + 1)];
    return badRequest(`cannot bind token to object of type ${group}/${version}, Kind=${kind}`);
  }
  const key = type.resource.namespaced ? `${call.target.namespace ?? ""}/${name}` : name;
  const object = call.core.store.get(type.collection, key)?.object;
  if (object === undefined) return notFound({ resource: type.resource, name });
  if (plural === "pods" && textAt(fieldAt(object, "spec"), "serviceAccountName") !== call.target.name) {
    const account = JSON.stringify(call.target.name ?? "");
    return badRequest(`cannot bind token for serviceaccount ${account} to pod running with different serviceaccount name.`);
  }
  return uid !== "" && uid !== object.metadata.uid ? another(kind, name, uid) : ok(boundTo(call, plural, object));
}

function another(kind: string, name: string, uid: string): Result<never, Failure> {
  const resource = { group: "", version: "v1", kind, plural: kind, namespaced: true };
  const why = `the UID in the bound object reference (${uid}) does not match the UID in record. The object might have been deleted and then recreated`;
  return conflict({ resource, name }, why);
}

/** The token of a pod has its node as a claim, too; without a uid if the node does not exist. */
function boundTo({ core }: RequestContext, plural: string, object: KubeObject): BoundObjects {
  if (plural === "secrets") return { secret: object };
  if (plural === "nodes") return { node: { name: object.metadata.name, uid: object.metadata.uid ?? "" } };
  const node = textAt(fieldAt(object, "spec"), "nodeName");
  if (node === "") return { pod: object };
  return { pod: object, node: { name: node, uid: core.store.get("/nodes", node)?.object.metadata.uid ?? "" } };
}

function textAt(value: unknown, name: string): string {
  const found = field(value, name);
  return typeof found === "string" ? found : "";
}
