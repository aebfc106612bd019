/** A request as admission sees it. */
import type { JsonObject, KubeObject } from "#kube";
import { firstRound, type Attributes, type Operation } from "../protocol/admission-port.ts";
import type { ResourceType } from "../resource-type.ts";
import type { RequestContext } from "../protocol/core.ts";
import type { DeleteOptions } from "./delete-options.ts";
import { recordWarning } from "../protocol/warnings.ts";

export type Change = {
  readonly operation: Operation;
  readonly name: string;
  readonly dryRun: boolean;
  readonly object: KubeObject | undefined;
  readonly old: KubeObject | undefined;
  /** Where the objects are not what the resource is. */
  readonly kind?: Attributes["kind"];
  readonly subresource?: string | undefined;
  /** Instead of what the query says. */
  readonly options?: () => JsonObject;
};

export function attributesOf(call: RequestContext, change: Change): Attributes {
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

const WRITTEN = ["fieldManager", "fieldValidation"] as const;

/** What the client said beside the object. A patch is told as what it does: it creates or it updates. */
function optionsOf({ request: { query } }: RequestContext, operation: Operation): JsonObject {
  const dryRun = query.getAll("dryRun").filter((value) => value !== "");
  const texts = WRITTEN.map((name) => [name, query.get(name) ?? ""] as const).filter(([, value]) => value !== "");
  return {
    kind: operation === "CREATE" ? "CreateOptions" : "UpdateOptions",
    apiVersion: "meta.k8s.io/v1",
    ...(dryRun.length === 0 ? {} : { dryRun }),
    ...Object.fromEntries(texts),
  };
}

/** A namespace is deleted as exactly the one that was found. */
export function deleteOptionsOf(type: ResourceType, found: KubeObject, options: DeleteOptions): JsonObject {
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
