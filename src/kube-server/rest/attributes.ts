/** A request as admission sees it. */
import type { JsonObject, KubeObject } from "#kube";
import type { Attributes, Operation } from "../admission/index.ts";
import type { Call } from "./core.ts";
import type { OptionsKind } from "./write-options.ts";

export type Change = {
  readonly operation: Operation;
  readonly name: string;
  readonly dryRun: boolean;
  readonly object: KubeObject | undefined;
  readonly old: KubeObject | undefined;
  /** Where the objects are not what the resource is. */
  readonly kind?: Attributes["kind"];
  readonly subresource?: string | undefined;
};

export function attributesOf(call: Call, change: Change): Attributes {
  const { target, request, warnings } = call;
  return {
    operation: change.operation,
    type: target.type,
    kind: change.kind ?? target.type.resource,
    subresource: change.subresource ?? target.subresource,
    namespace: target.namespace,
    name: change.name,
    user: request.user,
    dryRun: change.dryRun,
    options: () => optionsOf(call),
    object: change.object,
    old: change.old,
    warn: (text) => warnings.add(text),
  };
}

const KINDS: Readonly<Record<string, OptionsKind>> = { POST: "CreateOptions", PUT: "UpdateOptions", PATCH: "PatchOptions" };
const WRITTEN = ["fieldManager", "fieldValidation"] as const;

/** What the client said beside the object, as the kind of options that its method has. */
function optionsOf({ request }: Call): JsonObject {
  const { query, method } = request;
  const kind = KINDS[method];
  if (kind === undefined) return deleteOptionsOf(query);
  const dryRun = query.getAll("dryRun").filter((value) => value !== "");
  const texts = WRITTEN.map((name) => [name, query.get(name) ?? ""] as const).filter(([, value]) => value !== "");
  return {
    kind,
    apiVersion: "meta.k8s.io/v1",
    ...(dryRun.length === 0 ? {} : { dryRun }),
    ...(kind === "PatchOptions" && query.has("force") ? { force: query.get("force") === "true" } : {}),
    ...Object.fromEntries(texts),
  };
}

function deleteOptionsOf(query: URLSearchParams): JsonObject {
  const dryRun = query.getAll("dryRun").filter((value) => value !== "");
  const grace = query.get("gracePeriodSeconds");
  const policy = query.get("propagationPolicy");
  return {
    kind: "DeleteOptions",
    apiVersion: "meta.k8s.io/v1",
    ...(grace === null ? {} : { gracePeriodSeconds: Number(grace) }),
    ...(policy === null ? {} : { propagationPolicy: policy }),
    ...(dryRun.length === 0 ? {} : { dryRun }),
  };
}
