/** Parts of an object that are only created, as kinds: a token of an account, an eviction of a Pod. */
import type { Resource } from "../resource.ts";
import { serviceAccounts } from "./core.ts";
import { pods } from "./pod.ts";

/** A part of one object that is created: the name of the object is in the path. */
function partOf(resource: Resource, name: string, part: { readonly kind: string; readonly path: string }): Resource {
  return { ...resource, kind: part.kind, plural: `${resource.plural}/${encodeURIComponent(name)}/${part.path}` };
}

/** `client.create` of a TokenRequest issues a token of the account. */
export function tokenRequestsOf(account: string): Resource {
  return partOf(serviceAccounts, account, { kind: "TokenRequest", path: "token" });
}

/** `client.create` of an Eviction evicts the Pod. */
export function evictionsOf(pod: string): Resource {
  return partOf(pods, pod, { kind: "Eviction", path: "eviction" });
}
