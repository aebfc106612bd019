/**
 * `lattice patch`: applies a patch to an object as an API server would, and explains the result for each list. It shows the effect of a
 * patch before it is sent.
 */
import { resolve } from "node:path";
import { describeThrown, err, fromPromise, ok, type Result } from "#base";
import { field, formatYaml, isJsonObject, parseYaml, type Json, type JsonObject } from "#kube";
import {
  applyJsonPatch,
  applyMergePatch,
  applyStrategicMergePatch,
  builtinSchema,
  crdSchema,
  explainLists,
  httpStatusOf,
  type ListStory,
  type PatchError,
  type PatchSchema,
} from "#patch";
import { reportError, reportFailure, type CliIo, type ExitCode } from "./io.ts";
import { MAX_RESOURCE_FILE, readRegularText } from "./regular-file.ts";

export type PatchFlags = {
  readonly filename: string;
  /** A file, "-", or the patch itself. */
  readonly patch: string;
  readonly type: "strategic" | "merge" | "json";
  readonly schema?: string;
  readonly output: "yaml" | "json";
};

type Patched = { readonly result: Json; readonly stories: readonly ListStory[] };

export async function patchFile(io: CliIo, flags: PatchFlags): Promise<ExitCode> {
  const inputs = await readInputs(io, flags);
  if (!inputs.ok) return reportFailure(io, inputs.error);
  const patched = applyAs(flags.type, inputs.value);
  if (!patched.ok) return reportError(io, patched.error);
  const { result, stories } = patched.value;
  io.stdout(flags.output === "json" ? `${JSON.stringify(result, null, 2)}\n` : formatYaml(result));
  if (stories.length > 0) io.stderr(`\nlists:\n${stories.map(formatStory).join("")}`);
  return 0;
}

type Inputs = { readonly original: JsonObject; readonly patch: Json; readonly crd: JsonObject | undefined };

async function readInputs(io: CliIo, flags: PatchFlags): Promise<Result<Inputs, string>> {
  const original = await readDocument(io, flags.filename);
  const patch = /^\s*[[{]/.test(flags.patch) ? parseDocument(flags.patch, "the patch") : await readDocument(io, flags.patch);
  const crd = flags.schema === undefined ? ok(undefined) : await readDocument(io, flags.schema);
  for (const read of [original, patch, crd]) if (!read.ok) return read;
  if (!original.ok || !patch.ok || !crd.ok) return err("unreadable");
  if (!isJsonObject(original.value)) return err(`${flags.filename} does not contain an object`);
  if (crd.value !== undefined && !isJsonObject(crd.value)) return err(`${flags.schema} does not contain a CustomResourceDefinition`);
  return ok({ original: original.value, patch: patch.value, crd: crd.value });
}

async function readDocument(io: CliIo, file: string): Promise<Result<Json, string>> {
  const text =
    file === "-"
      ? await fromPromise(io.stdin(), describeThrown)
      : readRegularText(resolve(io.cwd, file), { bytes: MAX_RESOURCE_FILE, pipes: true });
  return text.ok ? parseDocument(text.value, file) : err(`${file}: ${text.error}`);
}

function parseDocument(text: string, what: string): Result<Json, string> {
  const parsed = parseYaml(text);
  if (!parsed.ok)
    return err(`${what}${parsed.error.line === undefined ? "" : `:${parsed.error.line}:${parsed.error.column}`}: ${parsed.error.message}`);
  const [document, ...more] = parsed.value;
  if (document === undefined || more.length > 0) return err(`${what} must contain one document, and contains ${parsed.value.length}`);
  return ok(document);
}

function applyAs(type: PatchFlags["type"], inputs: Inputs): Result<Patched, string> {
  const { original, patch } = inputs;
  if (type === "json") return withoutStories(applyJsonPatch(original, patch));
  if (type === "merge") return withoutStories(applyMergePatch(original, patch));
  const schema = schemaOf(inputs);
  if (!schema.ok) return schema;
  const lists = inputs.crd === undefined ? "patch-metadata" : "list-types";
  const result = applyStrategicMergePatch(original, patch, schema.value, { lists });
  if (!result.ok) return err(describe(result.error));
  return ok({ result: result.value, stories: isJsonObject(patch) ? explainLists(original, patch, result.value, schema.value) : [] });
}

function withoutStories(result: Result<Json, PatchError>): Result<Patched, string> {
  return result.ok ? ok({ result: result.value, stories: [] }) : err(describe(result.error));
}

function describe(error: PatchError): string {
  return `the patch is refused (HTTP ${httpStatusOf(error)}): ${error.message}`;
}

function schemaOf({ original, crd }: Inputs): Result<PatchSchema, string> {
  const [apiVersion, kind] = [field(original, "apiVersion"), field(original, "kind")];
  if (typeof apiVersion !== "string" || typeof kind !== "string")
    return err("the object has no apiVersion and kind, so how its lists merge is unknown; add both");
  const [group, version] = apiVersion.includes("/") ? apiVersion.split("/", 2) : ["", apiVersion];
  if (crd !== undefined) {
    const found = crdSchema(crd, version ?? "");
    return found.ok ? found : err(describe(found.error));
  }
  const builtin = builtinSchema({ group: group ?? "", version: version ?? "", kind });
  if (builtin !== undefined) return ok(builtin);
  return err(
    `${apiVersion} ${kind} is not built in: API servers refuse strategic merge patches of custom resources (415). Use --type merge, or --schema FILE with its CRD to merge by list types`,
  );
}

function formatStory({ path, treatment, added, changed, removed, kept }: ListStory): string {
  const parts = [
    describeItems("added", added),
    describeItems("changed", changed),
    describeItems("removed", removed),
    describeItems("kept", kept),
  ];
  return `  ${path}: ${treatment}; ${parts.filter((part) => part !== "").join("; ") || "empty before and after"}\n`;
}

function describeItems(what: string, names: readonly string[]): string {
  const shown = names.slice(0, 8).join(", ");
  if (names.length === 0) return "";
  return `${what} ${shown}${names.length > 8 ? ` and ${names.length - 8} more` : ""}`;
}
