/** The values that the expressions of a policy read for one request. */
import { ok, type Result } from "#base";
import type { KubeObject } from "#kube";
import type { Failure } from "../../protocol/status.ts";
import type { ActivationInput } from "../../admission-cel/index.ts";
import { inVersionOf, namespaceNamed } from "../matching/index.ts";
import type { AdmissionContext, Attributes } from "../../protocol/admission-port.ts";
import type { PolicyInvocation } from "./invocations.ts";

/** The current Namespace of the request; undefined for a Namespace itself. */
export function namespaceOf(context: AdmissionContext, { namespace, kind }: Attributes): Result<KubeObject | undefined, Failure> {
  if (namespace === undefined || (kind.kind === "Namespace" && kind.group === "")) return ok(undefined);
  return namespaceNamed(context, namespace);
}

export function inputOf(
  { matched, param }: Pick<PolicyInvocation<unknown>, "matched" | "param">,
  attributes: Attributes,
  namespace: KubeObject | undefined,
): ActivationInput {
  const { type, object, old } = attributes;
  return {
    attributes,
    matched: { kind: matched.kind, resource: matched.resource },
    object: object === undefined ? undefined : inVersionOf(object, type, matched.type),
    old: old === undefined ? undefined : inVersionOf(old, type, matched.type),
    namespace,
    params: param,
  };
}
