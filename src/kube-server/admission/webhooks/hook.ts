/** One webhook of a configuration, parsed once: its rules, its selectors, its compiled conditions. */
import { boundedMap, type BoundedMap } from "#base";
import { field, isJsonObject, type Json, type JsonObject, type KubeObject } from "#kube";
import { readClientConfig, type ClientConfig } from "../../webhook-client/index.ts";
import { compileMatchConditions, readObjects, type MatchConditions } from "../../admission-cel/index.ts";
import { readRules, readSelector, type MatchPolicy, type AdmissionRule, type Selector } from "../matching/index.ts";

export type Hook = {
  /** Unique, unlike names, which may repeat within a configuration. */
  readonly id: string;
  readonly name: string;
  readonly client: ClientConfig;
  readonly rules: readonly AdmissionRule[];
  readonly matchPolicy: MatchPolicy;
  readonly failurePolicy: "Fail" | "Ignore";
  readonly namespaceSelector: Selector;
  readonly objectSelector: Selector;
  readonly supportsDryRun: boolean;
  readonly timeoutSeconds: number;
  /** The first of its `admissionReviewVersions` that this server supports. */
  readonly reviewVersion: "v1" | "v1beta1" | undefined;
  readonly mayBeCalledAgain: boolean;
  /** Compiled on the first request for which the conditions are evaluated. */
  readonly conditions: () => HookConditions;
  /** Whether the conditions are met, by `namesKey`, where the evaluation has read nothing else of the request. */
  readonly known: BoundedMap<string, boolean>;
};

export type HookConditions = {
  readonly all: MatchConditions;
  /** They read the objects of the request, and not its attributes alone. */
  readonly readObjects: boolean;
};

/** The same objects are written again and again. An entry has some 100 bytes. */
const MAX_KNOWN = 32_768;

const DEFAULT_TIMEOUT_SECONDS = 10;

export function hooksOf(configuration: KubeObject): readonly Hook[] {
  const { name } = configuration.metadata;
  return list(field(configuration, "webhooks"))
    .filter(isJsonObject)
    .map((hook, index) => hookOf(hook, `${name}/${index}`));
}

function hookOf(hook: JsonObject, place: string): Hook {
  const name = textOf(hook, "name");
  const timeout = field(hook, "timeoutSeconds");
  const conditions = list(field(hook, "matchConditions")).map((one) => ({ expression: textOf(one, "expression") }));
  let compiled: HookConditions | undefined;
  return {
    id: `${place}/${name}`,
    name,
    client: readClientConfig(field(hook, "clientConfig")),
    rules: readRules(field(hook, "rules")),
    matchPolicy: textOf(hook, "matchPolicy") === "Exact" ? "Exact" : "Equivalent",
    failurePolicy: textOf(hook, "failurePolicy") === "Ignore" ? "Ignore" : "Fail",
    namespaceSelector: readSelector(field(hook, "namespaceSelector")),
    objectSelector: readSelector(field(hook, "objectSelector")),
    supportsDryRun: ["None", "NoneOnDryRun"].includes(textOf(hook, "sideEffects")),
    timeoutSeconds: typeof timeout === "number" ? timeout : DEFAULT_TIMEOUT_SECONDS,
    reviewVersion: list(field(hook, "admissionReviewVersions")).find((version) => version === "v1" || version === "v1beta1"),
    mayBeCalledAgain: textOf(hook, "reinvocationPolicy") === "IfNeeded",
    conditions: () => (compiled ??= compiledConditions(conditions)),
    known: boundedMap({ limit: MAX_KNOWN }),
  };
}

function compiledConditions(conditions: readonly { readonly expression: string }[]): HookConditions {
  const all = compileMatchConditions(conditions, { withAuthorizer: true });
  return { all, readObjects: readObjects(all) };
}

function list(json: Json | undefined): readonly Json[] {
  return Array.isArray(json) ? json : [];
}

function textOf(json: Json, name: string): string {
  const value = field(json, name);
  return typeof value === "string" ? value : "";
}
