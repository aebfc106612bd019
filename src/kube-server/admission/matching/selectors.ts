/** The two label selectors of a policy or webhook: on the namespace of a request, and on its object. */
import { ok, type Result } from "#base";
import { isJsonObject, matches, requirementsOf, type Json, type KubeObject, type Requirement } from "#kube";
import { NAMESPACES } from "../../protocol/namespaces.ts";
import { notFound, type Failure } from "../../protocol/status.ts";
import type { AdmissionContext, Attributes } from "../../protocol/admission-port.ts";

export type Selector = readonly Requirement[];

/** Validation has already refused a malformed selector. */
export function readSelector(selector: Json | undefined): Selector {
  return isJsonObject(selector) ? requirementsOf(selector) : [];
}

/** Both states of the object count: an update that removes the label still matches. */
export function selectsObject(selector: Selector, { object, old }: Attributes): boolean {
  if (selector.length === 0) return true;
  return [object, old].some((one) => one !== undefined && matches(selector, one.metadata?.labels));
}

/** Objects without a namespace are always selected; a Namespace is selected by its own labels. */
export function selectsNamespace(
  selector: Selector,
  attributes: Attributes,
  context: Pick<AdmissionContext, "store" | "types">,
): Result<boolean, Failure> {
  if (selector.length === 0) return ok(true);
  const { type, operation, subresource, object, namespace } = attributes;
  const isNamespace = type.collection === "/namespaces";
  if (isNamespace && subresource === undefined && object !== undefined && operation !== "DELETE") {
    return ok(matches(selector, object.metadata.labels));
  }
  const name = isNamespace ? attributes.name : namespace;
  if (name === undefined) return ok(true);
  const found = namespaceNamed(context, name);
  return found.ok ? ok(matches(selector, found.value.metadata.labels)) : found;
}

export function namespaceNamed({ store, types }: Pick<AdmissionContext, "store" | "types">, name: string): Result<KubeObject, Failure> {
  const stored = store.get("/namespaces", name);
  if (stored !== undefined) return ok(stored.object);
  const resource = types.find(NAMESPACES.group, NAMESPACES.version, NAMESPACES.plural)?.resource;
  return notFound({ resource: resource ?? { ...NAMESPACES, kind: "Namespace", namespaced: false }, name });
}
