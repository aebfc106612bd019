/** Kinds that exist only as bodies of subresources, so discovery does not list them. */
import { memoize } from "#base";
import { resourceTypeOf } from "../../builtin-kinds/resource-type-of.ts";
import type { ResourceType } from "../../resource-type.ts";
import type { RequestContext } from "../../protocol/core.ts";

const KINDS = {
  Binding: { group: "", version: "v1" },
  Eviction: { group: "policy", version: "v1" },
  Scale: { group: "autoscaling", version: "v1" },
  TokenRequest: { group: "authentication.k8s.io", version: "v1" },
} as const;

export type HiddenKind = keyof typeof KINDS;

export const hiddenType = memoize({ limit: 8 }, (kind: HiddenKind): ResourceType => {
  const none = { verbs: [], shortNames: [], categories: [], subresources: [] };
  const singular = kind.toLowerCase();
  return resourceTypeOf({ ...KINDS[kind], kind, plural: `${singular}s`, singular, namespaced: true, ...none }, {});
});

export function hiddenGvk(kind: HiddenKind): { readonly group: string; readonly version: string; readonly kind: string } {
  return { ...KINDS[kind], kind };
}

/** The same request, with a body of that kind. */
export function withBodyKind(call: RequestContext, kind: HiddenKind): RequestContext {
  return { ...call, target: { ...call.target, type: hiddenType(kind) } };
}
