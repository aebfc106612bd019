/** Applies the patch of a mutating webhook to the object that it received. The result is decoded as its kind, with defaults. */
import { err, ok, type Result } from "#base";
import { apiVersionOf, field, isJsonObject, jsonEqual, type Json, type JsonObject, type KubeObject } from "#kube";
import { applyJsonPatch } from "#patch";
import type { ResourceType } from "../../resource-type.ts";
import { goKind } from "../../protocol/decode-body.ts";
import { SCHEME } from "../../protocol/legacy-kinds.ts";
import { asJsonObject, asObject } from "../../protocol/managed-kinds.ts";
import { internalError } from "../../protocol/status.ts";
import { parseStrictJson } from "../../protocol/strict-json.ts";
import type { AdmissionContext } from "../../protocol/admission-port.ts";
import type { AdmissionReviewResponse } from "./admission-review.ts";
import { calling, refused, type HookError } from "./call-hook.ts";
import type { HookInvocation } from "./match-hook.ts";
import type { ObjectPair } from "./versions.ts";

export type Patched = { readonly object: KubeObject; readonly changed: boolean };

/** Undefined: the webhook returned no change. */
export function patchObject(
  answer: AdmissionReviewResponse,
  { hook, type }: HookInvocation,
  { object, old, types }: ObjectPair & { readonly types: AdmissionContext["types"] },
): Result<Patched | undefined, HookError> {
  if (answer.patch === "") return ok(undefined);
  const operations = readOperations(answer.patch);
  if (!operations.ok) return calling(`received undecodable patch in webhook response: ${operations.error}`);
  if (operations.value.length === 0) return ok(undefined);
  if (object === undefined) {
    const problem = `admission webhook ${JSON.stringify(hook.name)} attempted to modify the object, which is not supported for this operation`;
    return refused(internalError(problem).error);
  }
  if (answer.patchType !== "JSONPatch") return calling(`unsupported patch type ${JSON.stringify(answer.patchType)}`);
  const patched = applyJsonPatch(asJsonObject(object), operations.value);
  if (!patched.ok) return refused(internalError(patched.error.message).error);
  const read = readPatched(patched.value, { object, old, type: typeOf(object, type, types), types });
  if (!read.ok) return refused(internalError(read.error).error);
  return ok({ object: read.value, changed: !jsonEqual(object, read.value) });
}

function readOperations(text: string): Result<readonly Json[], string> {
  const parsed = parseStrictJson(text, false);
  if (!parsed.ok) return parsed;
  const { value } = parsed.value;
  if (value === null) return ok([]);
  if (!Array.isArray(value)) return err(`json: cannot unmarshal ${goKind(value)} into Go value of type jsonpatch.Patch`);
  const wrong = (value as readonly Json[]).find((operation) => !isJsonObject(operation) && operation !== null);
  if (wrong !== undefined) return err(`json: cannot unmarshal ${goKind(wrong)} into Go value of type jsonpatch.Operation`);
  return ok((value as readonly Json[]).map((operation) => operation ?? {}));
}

/** A Scale and similar objects have no resource type: they are not decoded. */
function typeOf(object: KubeObject, type: ResourceType, types: AdmissionContext["types"]): ResourceType | undefined {
  return object.kind === type.resource.kind ? type : types.ofKind(object.apiVersion, object.kind);
}

type Before = {
  readonly object: KubeObject;
  readonly old: KubeObject | undefined;
  readonly type: ResourceType | undefined;
  readonly types: AdmissionContext["types"];
};

/** A missing apiVersion or kind is that of the previous object, because Go decodes into a known kind. */
function readPatched(json: Json, { object: before, old, type, types }: Before): Result<KubeObject, string> {
  if (!isJsonObject(json)) return err(`couldn't get version/kind; json parse error: json: cannot unmarshal ${goKind(json)} into Go value`);
  const apiVersion = textOr(json, "apiVersion", before.apiVersion);
  const kind = textOr(json, "kind", before.kind);
  const given = { ...json, apiVersion, kind };
  const target = apiVersion === before.apiVersion && kind === before.kind ? type : types.ofKind(apiVersion, kind);
  if (target === undefined) {
    if (type !== undefined)
      return err(
        `no kind ${JSON.stringify(kind)} is registered for version ${JSON.stringify(apiVersion)} in scheme ${JSON.stringify(SCHEME)}`,
      );
    return ok(asObject(given));
  }
  // the stored object is valid and has its defaults, and so have the parts that are shared with it
  const like = target === type && old?.kind === kind ? old : undefined;
  const decoded = target.decode(given, like);
  if (!decoded.ok) return err(decoded.error);
  if (target !== type)
    return err(`converting (${apiVersionOf(target.resource)}.${kind}) to (${before.apiVersion}.${before.kind}): unknown conversion`);
  return ok(target.applyDefaults(decoded.value.object, like));
}

function textOr(json: JsonObject, name: string, otherwise: string): string {
  const value = field(json, name);
  return typeof value === "string" && value !== "" ? value : otherwise;
}
