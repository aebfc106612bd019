/** The scale subresource: checks the fields that a CRD declares for its replicas. */
import { err, ok, type Result } from "#base";
import { field, isJsonObject, goPlainText, type Json } from "#kube";
import type { FieldCause } from "../../resource-type.ts";
import { invalid } from "../causes/causes.ts";
import type { CrdScalePaths } from "../crd/definition.ts";
import { goTypeOf, isInt64 } from "../validation/numbers.ts";

const MAX_REPLICAS = 2 ** 31 - 1;

function stepsOf(path: string): readonly string[] {
  return path.replace(/^\./, "").split(".");
}

function readAt(object: Json, path: string, type: "int64" | "string"): Result<Json | undefined, string> {
  let at: Json = object;
  const steps = stepsOf(path);
  for (const [position, step] of steps.entries()) {
    if (!isJsonObject(at)) return err(accessorError(steps.slice(0, position + 1), at, "map[string]interface{}"));
    const next = field(at, step);
    if (next === undefined) return ok(undefined);
    at = next;
  }
  const isRight = type === "string" ? typeof at === "string" : typeof at === "number" && isInt64(at);
  return isRight ? ok(at) : err(accessorError(steps, at, type));
}

function accessorError(steps: readonly string[], value: Json, expected: string): string {
  return `.${steps.join(".")} accessor error: ${goPlainText(value)} is of the type ${goTypeOf(value)}, expected ${expected}`;
}

export function validateScale(paths: CrdScalePaths | undefined, object: Json, what: "all" | "status"): readonly FieldCause[] {
  if (paths === undefined) return [];
  const selector = paths.labelSelectorPath;
  return [
    ...(what === "all" ? replicasCauses(paths.specReplicasPath, object) : []),
    ...replicasCauses(paths.statusReplicasPath, object),
    ...(selector === undefined ? [] : selectorCauses(selector, object)),
  ];
}

function replicasCauses(path: string, object: Json): readonly FieldCause[] {
  const read = readAt(object, path, "int64");
  if (!read.ok) return [invalid(path, 0, read.error)];
  const replicas = typeof read.value === "number" ? read.value : 0;
  if (replicas < 0) return [invalid(path, replicas, "should be a non-negative integer")];
  return replicas > MAX_REPLICAS ? [invalid(path, replicas, `should be less than or equal to ${MAX_REPLICAS}`)] : [];
}

function selectorCauses(path: string, object: Json): readonly FieldCause[] {
  const read = readAt(object, path, "string");
  return read.ok ? [] : [invalid(path, "", read.error)];
}
