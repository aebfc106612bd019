/**
 * Checks converted objects: a webhook may not change the identity of an object, and of its metadata only labels and annotations.
 *
 * The messages are apiextensions-apiserver's, which differ between a single object and a list.
 */
import { err, ok, type Result } from "#base";
import { field, isJsonObject, type Json, type JsonObject } from "#kube";
import { describeCauses } from "../causes/causes.ts";
import { text } from "../crd/json-access.ts";
import { validateAnnotations, validateLabels } from "../metadata/object-meta.ts";
import { goTypeOf } from "../validation/numbers.ts";

export function acceptAll(
  originals: readonly JsonObject[],
  converted: readonly Json[],
  apiVersion: string,
): Result<readonly JsonObject[], string> {
  const head = `conversion webhook for ${describeKind(originals[0] ?? {})}`;
  if (converted.length !== originals.length) return err(`${head} returned ${converted.length} objects, expected ${originals.length}`);
  const accepted: JsonObject[] = [];
  for (const [index, original] of originals.entries()) {
    const one = accept(original, converted[index] ?? null, apiVersion);
    if (!one.ok) return err(originals.length === 1 ? alone(head, one.error) : amongOthers(head, index, one.error));
    accepted.push(one.value);
  }
  return ok(accepted);
}

/** "group/version, Kind=kind". */
export function describeKind(object: JsonObject): string {
  return `${text(object, "apiVersion")}, Kind=${text(object, "kind")}`;
}

type Problem = { readonly of: "form" | "type" | "identity" | "metadata"; readonly text: string };

function alone(head: string, problem: Problem): string {
  switch (problem.of) {
    case "form":
      return problem.text;
    case "type":
      return `${head} returned invalid object at index 0: ${problem.text}`;
    case "identity":
      return `${head} returned invalid object: ${problem.text}`;
    case "metadata":
      return `${head} returned invalid metadata: ${problem.text}`;
  }
}

function amongOthers(head: string, index: number, { of, text: problem }: Problem): string {
  if (of === "metadata") return `${head} returned invalid metadata in object at index ${index}: ${problem}`;
  return `${head} returned invalid converted object at index ${index}: ${problem}`;
}

function accept(original: JsonObject, converted: Json, apiVersion: string): Result<JsonObject, Problem> {
  const form = wrongForm(converted);
  if (form !== undefined || !isJsonObject(converted)) return err({ of: "form", text: form ?? "" });
  const type = wrongType(original, converted, apiVersion);
  if (type !== undefined) return err({ of: "type", text: type });
  const identity = wrongIdentity(original, converted);
  if (identity !== undefined) return err({ of: "identity", text: identity });
  const metadata = takeMetadata(field(original, "metadata"), field(converted, "metadata"));
  return metadata.ok ? ok({ ...converted, metadata: metadata.value }) : err({ of: "metadata", text: metadata.error });
}

function wrongForm(converted: Json): string | undefined {
  if (converted === null) return "unexpected end of JSON input";
  if (!isJsonObject(converted)) {
    const kind = Array.isArray(converted) ? "array" : typeof converted === "boolean" ? "bool" : typeof converted;
    return `json: cannot unmarshal ${kind} into Go value of type map[string]interface {}`;
  }
  return text(converted, "kind") === "" ? `Object 'Kind' is missing in '${JSON.stringify(converted)}'` : undefined;
}

function wrongType(original: JsonObject, converted: JsonObject, apiVersion: string): string | undefined {
  const given = text(converted, "apiVersion");
  if (given !== apiVersion) return `invalid groupVersion (expected ${apiVersion}, received ${given})`;
  const [expected, kind] = [text(original, "kind"), text(converted, "kind")];
  return kind === expected ? undefined : `invalid kind (expected ${expected}, received ${kind})`;
}

const IDENTITY = [
  ["name", "name"],
  ["namespace", "namespace"],
  ["uid", "UID"],
] as const;

function wrongIdentity(original: JsonObject, converted: JsonObject): string | undefined {
  const [before, after] = [field(original, "metadata"), field(converted, "metadata")];
  const lost = IDENTITY.find(([name]) => text(before, name) !== text(after, name));
  return lost === undefined ? undefined : `must have the same ${lost[1]}: ${text(before, lost[0])} != ${text(after, lost[0])}`;
}

const CHANGEABLE = ["labels", "annotations"] as const;

function takeMetadata(before: Json | undefined, after: Json | undefined): Result<JsonObject, string> {
  if (after === undefined) return err("missing metadata in converted object");
  if (!isJsonObject(after)) return err(`invalid metadata of type ${goTypeOf(after)} in converted object`);
  const metadata: Record<string, Json | undefined> = { ...(isJsonObject(before) ? before : {}) };
  for (const name of CHANGEABLE) {
    const given = field(after, name) ?? null;
    const wrong = given === null ? undefined : wrongTexts(name, given, field(before, name));
    if (wrong !== undefined) return err(wrong);
    if (given === null) delete metadata[name];
    else metadata[name] = given;
  }
  return ok(metadata);
}

/** Unchanged values are not validated again. */
function wrongTexts(name: (typeof CHANGEABLE)[number], given: Json, before: Json | undefined): string | undefined {
  if (!isJsonObject(given)) return `invalid metadata.${name} of type ${goTypeOf(given)} in converted object`;
  const known = isJsonObject(before) ? before : {};
  let changed = Object.keys(known).length !== Object.keys(given).length;
  for (const [key, value] of Object.entries(given)) {
    if (typeof value !== "string")
      return `metadata.${name}[${key}] must be a string, but is ${goTypeOf(value ?? null)} in converted object`;
    changed ||= field(known, key) !== value;
  }
  if (!changed) return undefined;
  const causes = name === "labels" ? validateLabels(given, "metadata.labels") : validateAnnotations(given, "metadata.annotation");
  return causes.length === 0 ? undefined : describeCauses(causes);
}
