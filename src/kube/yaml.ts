/**
 * Parses YAML as kubectl does, and formats it so that kubectl parses the same value.
 *
 * kubectl follows YAML 1.1 in places: `yes`, `on` and `y` are booleans and `0644` is 420. With other rules, `lattice` would accept a
 * file that has another meaning for kubectl. The rules here are the same, and the schema then reports "expected a string". Always
 * rejected: aliases (a small text can be a huge value), tags, deep nesting, integers that JavaScript would round.
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
import { writePlainYaml } from "./yaml-writer.ts";

export const MAX_YAML_BYTES = 10 * 1024 * 1024;

/** Why a text is not accepted as YAML, with its position where known. */
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

/** Created at first use: a server usually starts without parsing YAML. */
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

/** js-yaml uses the same tags to decide whether a text needs quotes; there, a large number is not an error. */
const writingSchema = once(() => schemaWith(integerTag(() => {})));

function readInteger(digits: string): number | undefined {
  const negative = digits.startsWith("-");
  const body = digits.replace(/^[-+]/, "");
  const value = /^0[0-7]/.test(body) ? Number.parseInt(body, 8) : Number(body);
  if (Number.isNaN(value)) return undefined;
  return negative ? -value : value;
}

export type YamlOptions = {
  /** "last": the last value of a duplicate field is used, as in an API server; otherwise a duplicate is an error. */
  readonly duplicates?: "error" | "last";
  /** "yaml-1.2": `no`, `on` and `y` are text, and only `true` and `false` are booleans; otherwise as in kubectl. */
  readonly booleans?: "kubectl" | "yaml-1.2";
};

/** Every document of the text; empty ones (between two `---`) are skipped. */
export function parseYaml(text: string, options: YamlOptions = {}): Result<readonly Json[], YamlError> {
  if (text.length > MAX_YAML_BYTES) return refuse(`the document is larger than ${MAX_YAML_BYTES / 1024 / 1024} MiB`);
  const loaded = loadPadded(text, options);
  if (!loaded.ok) return loaded;
  const documents = loaded.value.filter((document) => document !== null && document !== undefined);
  // JSON has no NaN and no infinity: an API server would receive `null`
  if (documents.some(hasUnrepresentableNumber)) return refuse(".nan and .inf have no form in JSON; put them in quotes if they are text");
  if (depthExceeds(documents, MAX_DEPTH + 1)) return refuse(`nested deeper than ${MAX_DEPTH} levels`);
  return ok(documents);
}

/** The number of characters that may be parsed again because of lines indented too little: 160 such lines in a file of 100 KiB. */
const MOST_READ_AGAIN = 16 * 1024 * 1024;
const PADDING = " ".repeat(MAX_DEPTH * 2);

function loadPadded(text: string, options: YamlOptions): Result<readonly Json[], YamlError> {
  const load = { schema: schemaFor(options), maxDepth: MAX_DEPTH, maxAliases: 0, json: options.duplicates === "last" };
  return readPadded(text, (padded) => loadAll(padded, load) as Json[]).result;
}

/** `lines`: the parsed text, if some of its lines were indented further. */
type PaddedRead<T> = { readonly result: Result<T, YamlError>; readonly lines: readonly string[] | undefined };

/**
 * kubectl accepts continuation lines of quoted text and `[…]` that are indented too little, and published CRDs contain such text. The
 * indentation has no meaning there, so the line is indented further and the text parsed again.
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
  // a later error is reported with its position in the file
  return { result: result.ok ? result : { ok: false, error: unpadded(result.error, lines) }, lines };
}

const TOO_FAR_LEFT = "deficient indentation";

/** The same position in the original file. */
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

/** One document. Text that kubectl would parse as another type (`on`, `0644`, `1e3`) is quoted. */
export function formatYaml(value: unknown): string {
  return writePlainYaml(value, writeScalar) ?? dumpYaml(value);
}

/** The same with js-yaml only: tests compare `writePlainYaml` with it. */
export function dumpYaml(value: unknown): string {
  return dump(withoutUndefined(value), { schema: writingSchema(), lineWidth: -1, noRefs: true });
}

/** A single-line scalar has the same format in every position. */
function writeScalar(value: string | number): string {
  return dumpYaml([value]).slice("- ".length, -1);
}

/** Several documents, each after `---`, as `kubectl apply -f -` expects them. */
export function formatYamlDocuments(values: readonly unknown[]): string {
  return values.map((value) => `---\n${formatYaml(value)}`).join("");
}

function withoutUndefined(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutUndefined);
  if (!isJsonObject(value)) return value;
  const kept = Object.entries(value).filter(([, item]) => item !== undefined);
  return Object.fromEntries(kept.map(([name, item]) => [name, withoutUndefined(item)]));
}
