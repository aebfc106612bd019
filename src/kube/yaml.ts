/**
 * YAML, read the way kubectl reads it and written so that kubectl reads the same back.
 *
 * kubectl's YAML is 1.1 in places: `yes`, `on` and `y` are booleans and `0644` is 420. Reading them otherwise would let
 * `lattice` accept a file that kubectl turns into something else, so they are read alike, and the schema then says
 * "expected a string". Refused outright: aliases (small text, huge value), tags, deep nesting, integers that JavaScript
 * would round.
 */
import {
  boolCoreTag,
  boolYaml11Tag,
  defineScalarTag,
  dump,
  floatCoreTag,
  loadAll,
  mapTag,
  NOT_RESOLVED,
  nullYaml11Tag,
  Schema,
  seqTag,
  strTag,
  YAMLException,
} from "js-yaml";
import { describeThrown, err, fromThrowing, ok, once, type Result } from "#base";
import { depthExceeds, isJsonObject, MAX_DEPTH, type Json } from "./json.ts";
import { readPlainYaml } from "./yaml-reader.ts";
import { writePlainYaml } from "./yaml-writer.ts";

export const MAX_YAML_BYTES = 10 * 1024 * 1024;

/** Why a text is not accepted as YAML, with its place where known. */
export type YamlError = { readonly kind: "yaml"; readonly message: string; readonly line?: number; readonly column?: number };

class Refused extends Error {}

const INTEGER = /^[-+]?(?:0b[01_]+|0o?[0-7_]+|0x[0-9a-fA-F_]+|[1-9][0-9_]*|0)$/;

const schemaWith = (integer: ReturnType<typeof integerTag>, boolean = boolYaml11Tag) =>
  new Schema([strTag, seqTag, mapTag, nullYaml11Tag, boolean, integer, floatCoreTag]);

function integerTag(tooLarge: (source: string) => void) {
  return defineScalarTag<number>("tag:yaml.org,2002:int", {
    implicit: true,
    implicitFirstChars: "-+0123456789".split(""),
    resolve(source) {
      if (!INTEGER.test(source)) return NOT_RESOLVED;
      const value = readInteger(source.replaceAll("_", ""));
      if (value === undefined) return NOT_RESOLVED;
      if (!Number.isSafeInteger(value)) tooLarge(source);
      return value;
    },
    identify: (data) => Number.isInteger(data),
  });
}

/** Made when they are needed: most starts of a server read no YAML. */
const kubectlSchema = once(() => schemaWith(readingInteger()));
const schema12 = once(() => schemaWith(readingInteger(), boolCoreTag));

function schemaFor({ booleans }: YamlOptions): Schema {
  return booleans === "yaml-1.2" ? schema12() : kubectlSchema();
}

function readingInteger() {
  return integerTag((source) => {
    throw new Refused(`the integer ${source} is too large to be kept exactly; put it in quotes`);
  });
}

/** The writer asks the same tags whether a text needs quotes; there, a large number is not an error. */
const writingSchema = once(() => schemaWith(integerTag(() => {})));

function readInteger(digits: string): number | undefined {
  const negative = digits.startsWith("-");
  const body = digits.replace(/^[-+]/, "");
  const value = /^0[0-7]/.test(body) ? Number.parseInt(body, 8) : Number(body);
  if (Number.isNaN(value)) return undefined;
  return negative ? -value : value;
}

export type YamlOptions = {
  /** "last": a field given twice counts as its last value, as an API server reads it; otherwise it is an error. */
  readonly duplicates?: "error" | "last";
  /** "yaml-1.2": `no`, `on` and `y` are text, and only `true` and `false` are booleans; otherwise as kubectl reads them. */
  readonly booleans?: "kubectl" | "yaml-1.2";
};

/** Every document of the text; empty ones (between two `---`) are left out. */
export function parseYaml(text: string, options: YamlOptions = {}): Result<readonly Json[], YamlError> {
  if (text.length > MAX_YAML_BYTES) return refuse(`the document is larger than ${MAX_YAML_BYTES / 1024 / 1024} MiB`);
  const plain = readPlainYaml(text);
  return plain === undefined ? parseAnyYaml(text, options) : ok([plain]);
}

/** The same, by js-yaml alone: what `readPlainYaml` is measured against. */
export function parseAnyYaml(text: string, options: YamlOptions = {}): Result<readonly Json[], YamlError> {
  const loaded = loadPadded(text, options);
  if (!loaded.ok) return loaded;
  const documents = loaded.value.filter((document) => document !== null && document !== undefined);
  // JSON has no NaN and no infinity, and an API server would be sent `null` in their place
  if (documents.some(hasUnrepresentableNumber)) return refuse(".nan and .inf have no form in JSON; put them in quotes if they are text");
  if (depthExceeds(documents, MAX_DEPTH + 1)) return refuse(`nested deeper than ${MAX_DEPTH} levels`);
  return ok(documents);
}

/** Characters that may be read again because of lines that stand too far left: 160 such lines in a file of 100 KiB. */
const MOST_READ_AGAIN = 16 * 1024 * 1024;
const PADDING = " ".repeat(MAX_DEPTH * 2);

function loadPadded(text: string, options: YamlOptions): Result<readonly Json[], YamlError> {
  const load = { schema: schemaFor(options), maxDepth: MAX_DEPTH, maxAliases: 0, json: options.duplicates === "last" };
  return readPadded(text, (padded) => loadAll(padded, load) as Json[]).result;
}

/** `lines`: the text as it was read, where some of its lines were moved to the right. */
type PaddedRead<T> = { readonly result: Result<T, YamlError>; readonly lines: readonly string[] | undefined };

/**
 * kubectl lets quoted text and `[…]` go on in lines that are indented too little, and published CRDs have such text. The spaces before it mean
 * nothing there, so the line is moved to the right and the text read again.
 */
export function readPadded<T>(text: string, read: (text: string) => T): PaddedRead<T> {
  const load = (padded: string) => fromThrowing(() => read(padded), describeYamlError);
  const first = load(text);
  if (first.ok || first.error.message !== TOO_FAR_LEFT) return { result: first, lines: undefined };
  const lines = text.split("\n");
  let [result, again] = [first as Result<T, YamlError>, 0];
  while (!result.ok && result.error.message === TOO_FAR_LEFT && again < MOST_READ_AGAIN) {
    const at = (result.error.line ?? 0) - 1;
    const line = lines[at];
    if (line === undefined || /^(---|\.\.\.)/.test(line) || line.startsWith(PADDING)) break;
    lines[at] = PADDING + line;
    again += text.length;
    result = load(lines.join("\n"));
  }
  // a mistake beyond these lines is reported where it is in the file
  return { result: result.ok ? result : { ok: false, error: unpadded(result.error, lines) }, lines };
}

const TOO_FAR_LEFT = "deficient indentation";

/** The same place in the file itself. */
export function unpadded<T extends { readonly line?: number; readonly column?: number }>(place: T, lines: readonly string[]): T {
  const { line = 0, column } = place;
  if (column === undefined || lines[line - 1]?.startsWith(PADDING) !== true) return place;
  return { ...place, column: Math.max(1, column - PADDING.length) };
}

function hasUnrepresentableNumber(value: unknown): boolean {
  if (typeof value === "number") return !Number.isFinite(value);
  return typeof value === "object" && value !== null && Object.values(value).some(hasUnrepresentableNumber);
}

function describeYamlError(thrown: unknown): YamlError {
  if (!(thrown instanceof YAMLException)) return { kind: "yaml", message: describeThrown(thrown) };
  const aliases = /alias/i.test(thrown.reason) ? "; YAML aliases are not accepted, write the value out" : "";
  const message = `${thrown.reason}${aliases}`;
  return thrown.mark === undefined
    ? { kind: "yaml", message }
    : { kind: "yaml", message, line: thrown.mark.line + 1, column: thrown.mark.column + 1 };
}

function refuse(message: string): Result<never, YamlError> {
  return err({ kind: "yaml", message });
}

/** One document. Text that kubectl would read as something else (`on`, `0644`, `1e3`) is quoted. */
export function formatYaml(value: unknown): string {
  return writePlainYaml(value, writeScalar) ?? dumpYaml(value);
}

/** The same, by js-yaml alone: what `writePlainYaml` is measured against. */
export function dumpYaml(value: unknown): string {
  return dump(withoutUndefined(value), { schema: writingSchema(), lineWidth: -1, noRefs: true });
}

/** In one line, a scalar looks the same wherever it stands. */
function writeScalar(value: string | number): string {
  return dumpYaml([value]).slice("- ".length, -1);
}

/** Several documents, each introduced by `---`, as `kubectl apply -f -` takes them. */
export function formatYamlDocuments(values: readonly unknown[]): string {
  return values.map((value) => `---\n${formatYaml(value)}`).join("");
}

function withoutUndefined(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutUndefined);
  if (!isJsonObject(value)) return value;
  const kept = Object.entries(value).filter(([, item]) => item !== undefined);
  return Object.fromEntries(kept.map(([name, item]) => [name, withoutUndefined(item)]));
}
