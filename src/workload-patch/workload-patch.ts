/**
 * What a LatticeService in patch mode changes in its Deployment. It is kept as text in a ConfigMap of the operator's namespace.
 *
 * It holds no sensitive value, only references to Secrets.
 */
import { err, ok, type Result } from "#base";
import { canonicalJson, field, isJsonObject, type Json, type JsonObject } from "#kube";
import { parseBoundedJson } from "./bounded-json.ts";
import { isPatchable, PATCHABLE_TEXT } from "./patchable.ts";

/** What one LatticeService changes in one Deployment. */
export type WorkloadPatch = {
  readonly version: 1;
  /** "namespace/name" of the LatticeService. Its name becomes the label `lattice.dev/service` of the Deployment and of its pods. */
  readonly service: string;
  /** The Deployment. */
  readonly target: { readonly namespace: string; readonly name: string };
  /**
   * A strategic merge patch without directives (`$patch` and the like) and without `envFrom`. Only `metadata.labels`, `metadata.annotations` and
   * `spec.template` may be changed. null removes a field.
   */
  readonly patch: JsonObject;
  /** By container: entries that are appended to the owner's `envFrom`. */
  readonly envFrom: Readonly<Record<string, readonly JsonObject[]>>;
  /**
   * By container and name of the variable: `valueFrom` of an `env` entry (`{configMapKeyRef}` or `{secretKeyRef}`). Used only where the owner's
   * container has that name in `env`, because `env` has precedence over `envFrom`.
   */
  readonly variables: Readonly<Record<string, Readonly<Record<string, JsonObject>>>>;
  /**
   * The Deployment is patched only while it has this label with one of these values, and is restored by the write that removes it. Absent: no label is
   * needed.
   */
  readonly consent?: { readonly label: string; readonly values: readonly string[] };
  /** Takes the patch off: the Deployment becomes its owner's again. The webhook does it, because a write of the operator would make it the owner. */
  readonly detach?: true;
};

/** A ConfigMap is not larger. */
const MAX_LENGTH = 1024 * 1024;
const MAX_DEPTH = 40;

/** Equal patches have equal texts. */
export function formatWorkloadPatch(patch: WorkloadPatch): string {
  return canonicalJson(patch);
}

/** Bounded: the text can be of any origin. */
export function parseWorkloadPatch(text: string): Result<WorkloadPatch, string> {
  const parsed = parseBoundedJson(text, { length: MAX_LENGTH, depth: MAX_DEPTH });
  if (!parsed.ok) return parsed;
  const problem = problemOf(parsed.value);
  return problem === undefined ? ok(parsed.value as unknown as WorkloadPatch) : err(problem);
}

function problemOf(value: Json): string | undefined {
  const [service, target, patch] = [field(value, "service"), field(value, "target"), field(value, "patch")];
  if (field(value, "version") !== 1) return "version: must be 1";
  if (!isServiceKey(service)) return 'service: must be "namespace/name"';
  if (!["namespace", "name"].every((name) => isName(field(target, name)))) return "target: needs a namespace and a name";
  if (!isJsonObject(patch)) return "patch: must be an object";
  if (![undefined, true].includes(field(value, "detach") as true | undefined)) return "detach: must be true or absent";
  return (
    consentProblem(field(value, "consent")) ??
    patchProblem(patch) ??
    envFromProblem(field(value, "envFrom")) ??
    variablesProblem(field(value, "variables"))
  );
}

/** A namespace has at most 63 characters and a name 253. */
const MAX_KEY_LENGTH = 317;

/** "namespace/name" of a LatticeService. */
export function isServiceKey(value: Json | undefined): value is string {
  return typeof value === "string" && value.length <= MAX_KEY_LENGTH && /^[^/]+\/[^/]+$/.test(value);
}

function consentProblem(consent: Json | undefined): string | undefined {
  if (consent === undefined) return undefined;
  const values = field(consent, "values");
  const isList = Array.isArray(values) && (values as readonly Json[]).every((value) => typeof value === "string");
  return isList && isName(field(consent, "label")) ? undefined : "consent: needs a label and a list of values";
}

function isName(value: Json | undefined): boolean {
  return typeof value === "string" && value !== "";
}

function patchProblem(patch: JsonObject): string | undefined {
  for (const [root, below] of Object.entries(patch)) {
    if (!isJsonObject(below)) return `patch.${root}: must be an object`;
    for (const [name, inner] of Object.entries(below)) {
      if (!isPatchable([root, name, ""])) return `patch.${root}.${name}: only ${PATCHABLE_TEXT} can be changed`;
      if (!isJsonObject(inner)) return `patch.${root}.${name}: must be an object`;
    }
  }
  return directiveIn(patch) ? "patch: directives ($patch, $retainKeys and the like) are not used" : undefined;
}

function directiveIn(value: Json | undefined): boolean {
  if (Array.isArray(value)) return (value as readonly Json[]).some(directiveIn);
  return isJsonObject(value) && Object.entries(value).some(([name, inner]) => name.startsWith("$") || directiveIn(inner));
}

function envFromProblem(envFrom: Json | undefined): string | undefined {
  if (!isJsonObject(envFrom)) return "envFrom: must be an object";
  const bad = Object.entries(envFrom).find(([, sources]) => !Array.isArray(sources) || !(sources as readonly Json[]).every(isJsonObject));
  return bad === undefined ? undefined : `envFrom.${bad[0]}: must be a list of objects`;
}

function variablesProblem(variables: Json | undefined): string | undefined {
  if (!isJsonObject(variables)) return "variables: must be an object";
  const bad = Object.entries(variables).find(([, names]) => !isJsonObject(names) || !Object.values(names).every(isJsonObject));
  return bad === undefined ? undefined : `variables.${bad[0]}: must be an object of valueFrom objects`;
}
