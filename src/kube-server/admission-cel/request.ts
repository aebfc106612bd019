/** A request for expressions and webhooks: `AdmissionRequest` of admission.k8s.io/v1 without uid and objects, with its fields in Go's order. */
import type { JsonObject, Resource } from "#kube";
import type { User } from "../protocol/request.ts";
import type { Attributes } from "../protocol/admission-port.ts";

/** The version of the object that the rule of the hook or policy names; the request itself may have another version. */
export type Matched = { readonly kind: Attributes["kind"]; readonly resource: Pick<Resource, "group" | "version" | "plural"> };

export function matchedAsRequested(attributes: Attributes): Matched {
  return { kind: attributes.kind, resource: attributes.type.resource };
}

/** Empty texts are omitted, as in Go: an expression that reads `request.subResource` of a request without one fails. */
export function admissionRequest(attributes: Attributes, matched: Matched): JsonObject {
  const { subresource } = attributes;
  const namespace = namespaceOf(attributes);
  return {
    kind: kindOf(matched.kind),
    resource: resourceOf(matched.resource),
    ...(subresource === undefined ? {} : { subResource: subresource }),
    requestKind: kindOf(attributes.kind),
    requestResource: resourceOf(attributes.type.resource),
    ...(subresource === undefined ? {} : { requestSubResource: subresource }),
    ...(attributes.name === "" ? {} : { name: attributes.name }),
    ...(namespace === undefined ? {} : { namespace }),
    operation: attributes.operation,
    userInfo: userInfo(attributes.user),
    dryRun: attributes.dryRun,
    options: attributes.options(),
  };
}

/** The namespace of a Namespace is its own name. */
export function namespaceOf({ type, namespace, name }: Attributes): string | undefined {
  const own = type.collection === "/namespaces" ? name : (namespace ?? "");
  return own === "" ? undefined : own;
}

function kindOf({ group, version, kind }: Attributes["kind"]): JsonObject {
  return { group, version, kind };
}

function resourceOf({ group, version, plural }: Matched["resource"]): JsonObject {
  return { group, version, resource: plural };
}

function userInfo({ name, uid, groups, extra }: User): JsonObject {
  return {
    ...(name === "" ? {} : { username: name }),
    ...(uid === "" ? {} : { uid }),
    ...(groups.length === 0 ? {} : { groups }),
    ...(extra === undefined || extra.size === 0 ? {} : { extra: Object.fromEntries(extra) }),
  };
}
