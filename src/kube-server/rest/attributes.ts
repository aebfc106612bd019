/** Attributes of a request for admission. */
import type { JsonObject, KubeObject } from "#kube";
import { firstRound, type Attributes, type Operation } from "../protocol/admission-port.ts";
import type { ResourceType } from "../resource-type.ts";
import type { RequestContext } from "../protocol/core.ts";
import type { DeleteRequestOptions } from "./delete-options.ts";
import { recordWarning } from "../protocol/warnings.ts";

export type AdmissionChange = {
  readonly operation: Operation;
  readonly name: string;
  readonly dryRun: boolean;
  readonly object: KubeObject | undefined;
  readonly old: KubeObject | undefined;
  /** If the objects are of another kind than the resource. */
  readonly kind?: Attributes["kind"];
  readonly subresource?: string | undefined;
  /** Default: from the query. */
  readonly options?: () => JsonObject;
};

export function attributesOf(call: RequestContext, change: AdmissionChange): Attributes {
  const { target, request, warnings } = call;
  return {
    operation: change.operation,
    verb: target.verb,
    type: target.type,
    kind: change.kind ?? target.type.resource,
    subresource: change.subresource ?? target.subresource,
    namespace: target.namespace,
    name: change.name,
    user: request.user,
    dryRun: change.dryRun,
    options: change.options ?? (() => optionsOf(call, change.operation)),
    object: change.object,
    old: change.old,
    warn: (text) => recordWarning(warnings, text),
    reinvocation: firstRound(),
  };
}

const TEXT_OPTIONS = ["fieldManager", "fieldValidation"] as const;

/** The options of the query. A patch has CreateOptions or UpdateOptions, depending on its effect. */
function optionsOf({ request: { query } }: RequestContext, operation: Operation): JsonObject {
  const dryRun = query.getAll("dryRun").filter((value) => value !== "");
  const texts = TEXT_OPTIONS.map((name) => [name, query.get(name) ?? ""] as const).filter(([, value]) => value !== "");
  return {
    kind: operation === "CREATE" ? "CreateOptions" : "UpdateOptions",
    apiVersion: "meta.k8s.io/v1",
    ...(dryRun.length === 0 ? {} : { dryRun }),
    ...Object.fromEntries(texts),
  };
}

/** The deletion of a namespace has the uid of the stored namespace as a precondition. */
export function deleteOptionsOf(type: ResourceType, found: KubeObject, options: DeleteRequestOptions): JsonObject {
  const { gracePeriodSeconds, propagationPolicy, orphanDependents, resourceVersion, dryRun } = options;
  const uid = options.uid ?? (type.collection === "/namespaces" ? found.metadata.uid : undefined);
  const preconditions = { ...(uid === undefined ? {} : { uid }), ...(resourceVersion === undefined ? {} : { resourceVersion }) };
  return {
    kind: "DeleteOptions",
    apiVersion: "meta.k8s.io/v1",
    ...(gracePeriodSeconds === undefined ? {} : { gracePeriodSeconds }),
    ...(Object.keys(preconditions).length === 0 ? {} : { preconditions }),
    ...(orphanDependents === undefined ? {} : { orphanDependents }),
    ...(propagationPolicy === undefined ? {} : { propagationPolicy }),
    ...(dryRun ? { dryRun: ["All"] } : {}),
  };
}
