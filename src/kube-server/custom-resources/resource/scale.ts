/** The scale subresource: where a CRD says its replicas are, read, written and checked. */
import { err, ok, type Result } from "#base";
import { field, isJsonObject, plainText, type Json, type JsonObject } from "#kube";
import type { FieldCause } from "../../resource-type.ts";
import { invalid } from "../causes/causes.ts";
import type { ScalePaths } from "../crd/definition.ts";
import { goTypeOf, isInt64 } from "../validation/numbers.ts";

const MAX_REPLICAS = 2 ** 31 - 1;

export type ScaleValues = {
  /** Undefined: the field is not there. */
  readonly specReplicas: number | undefined;
  readonly statusReplicas: number;
  readonly selector: string;
};

export function readScale(object: Json, paths: ScalePaths): Result<ScaleValues, string> {
  const spec = readAt(object, paths.specReplicasPath, "int64");
  const status = readAt(object, paths.statusReplicasPath, "int64");
  const selector =
    paths.labelSelectorPath === undefined || paths.labelSelectorPath === ""
      ? ok(undefined)
      : readAt(object, paths.labelSelectorPath, "string");
  for (const result of [spec, status, selector]) if (!result.ok) return result;
  const value = (result: Result<Json | undefined, string>): Json | undefined => (result.ok ? result.value : undefined);
  return ok({
    specReplicas: value(spec) as number | undefined,
    statusReplicas: (value(status) ?? 0) as number,
    selector: (value(selector) ?? "") as string,
  });
}

/** A copy with other replicas; objects on the way are made. */
export function withReplicas(object: JsonObject, paths: ScalePaths, replicas: number): JsonObject {
  return setAt(object, stepsOf(paths.specReplicasPath), replicas);
}

function setAt(object: JsonObject, [name, ...rest]: readonly string[], value: Json): JsonObject {
  if (name === undefined) return object;
  const inner = field(object, name);
  return { ...object, [name]: rest.length === 0 ? value : setAt(isJsonObject(inner) ? inner : {}, rest, value) };
}

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
  return `.${steps.join(".")} accessor error: ${plainText(value)} is of the type ${goTypeOf(value)}, expected ${expected}`;
}

export function validateScale(paths: ScalePaths | undefined, object: Json, what: "all" | "status"): readonly FieldCause[] {
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
