/**
 * The body of a response as the expected kind, decoded as client-go's codec does: JSON or YAML, a field of the wrong type refused with Go's
 * message, unknown fields ignored.
 *
 * The decoder assumes missing kinds and versions: a body without a kind is decoded as the expected one, and refused later because it has none.
 */
import { err, ok, type Result } from "#base";
import { field, isJsonObject, type Json, type JsonObject } from "#kube";
import { readShape, type GoShape } from "../protocol/shapes.ts";
import { goKind } from "../protocol/decode-body.ts";
import { SCHEME } from "../protocol/legacy-kinds.ts";
import { parseStrictJson } from "../protocol/strict-json.ts";
import { readYaml } from "../protocol/yaml-body.ts";

export type ReviewKind = {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly shape: GoShape;
  /** Registered versions of the same kind that are no valid response. */
  readonly others: readonly string[];
};

const TYPE_META = 'struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }';

export function readReview(body: Buffer, wanted: ReviewKind): Result<JsonObject, string> {
  const read = readDocument(body.toString("utf8"));
  if (!read.ok) return err(`couldn't get version/kind; json parse error: ${read.error}`);
  const { value } = read;
  if (value !== null && !isJsonObject(value)) {
    return err(`couldn't get version/kind; json parse error: json: cannot unmarshal ${goKind(value)} into Go value of type ${TYPE_META}`);
  }
  const document = value ?? {};
  const wrong = wrongKind(document, wanted);
  if (wrong !== undefined) return err(wrong);
  const shaped = readShape(wanted.shape, document);
  return shaped.ok ? ok(shaped.value.value) : shaped;
}

function readDocument(text: string): Result<Json, string> {
  const read = text.trimStart().startsWith("{") ? parseStrictJson(text, false) : readYaml(text);
  return read.ok ? ok(read.value.value) : read;
}

function wrongKind(document: JsonObject, wanted: ReviewKind): string | undefined {
  for (const name of ["apiVersion", "kind"] as const) {
    const given = field(document, name) ?? null;
    if (given !== null && typeof given !== "string")
      return `couldn't get version/kind; json parse error: json: cannot unmarshal ${goKind(given)} into Go struct field .${name} of type string`;
  }
  const expected = `${wanted.group}/${wanted.version}`;
  const apiVersion = textOr(document, "apiVersion", expected);
  const kind = textOr(document, "kind", wanted.kind);
  if (apiVersion === expected && kind === wanted.kind) return undefined;
  const target = `(${wanted.version}.${wanted.kind}): unknown conversion`;
  if (apiVersion === "v1" && kind === "Status") return `converting (v1.Status) to ${target}`;
  const other = wanted.others.find((version) => apiVersion === `${wanted.group}/${version}`);
  if (other !== undefined && kind === wanted.kind) return `converting (${other}.${kind}) to ${target}`;
  return `no kind ${JSON.stringify(kind)} is registered for version ${JSON.stringify(apiVersion)} in scheme ${JSON.stringify(SCHEME)}`;
}

function textOr(document: JsonObject, name: string, otherwise: string): string {
  const given = field(document, name);
  return typeof given === "string" && given !== "" ? given : otherwise;
}

/** "group/version, Kind=kind" of an object, as Go prints it. */
export function declaredKind(document: JsonObject): string {
  const apiVersion = textOr(document, "apiVersion", "");
  return `${apiVersion === "" ? "/" : apiVersion.includes("/") ? apiVersion : `/${apiVersion}`}, Kind=${textOr(document, "kind", "")}`;
}
