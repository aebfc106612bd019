/**
 * Translates Score's placeholders in a text to Lattice's template syntax.
 *
 * The two differ in small ways: for Score `$$` is one `$` everywhere, and a `${` that is never closed is plain text. The workload's own
 * metadata besides name and annotations is expanded here, since a Kubernetes object has no fields for it.
 */
import { err, ok, type Result } from "#base";
import { isJsonObject, type Json } from "#kube";

/** `${…}`, `$${…}` or `$$`, from left to right: Score's own expression. */
const MARK = /\$(?:(\$?)\{([^}]*)\}|\$)/g;

export type TextContext = {
  readonly metadata: Readonly<Record<string, unknown>>;
  /** The output of `${resources.NAME}` without an output name: `ref` for a volume's source. */
  readonly wholeResource?: string;
};

export function latticeText(text: string, context: TextContext): Result<string, string> {
  if (!text.includes("$")) return ok(text);
  let [out, literal, at] = ["", "", 0];
  MARK.lastIndex = 0; // `matchAll` would copy the expression for each text
  for (let match = MARK.exec(text); match !== null; match = MARK.exec(text)) {
    const [whole, escaped, path = ""] = match;
    literal += text.slice(at, match.index);
    at = match.index + whole.length;
    const fixed = escaped === "" ? ownMetadata(path, context.metadata) : whole.slice(1);
    if (fixed !== undefined) {
      literal += fixed;
      continue;
    }
    if (literal.endsWith("$")) return err(`\${${path}} directly after a "$" cannot be expressed in Lattice`);
    out += `${escapedText(literal)}\${${withOutput(path, context)}}`;
    literal = "";
  }
  return ok(out + escapedText(literal + text.slice(at)));
}

/** Escapes text that is a placeholder for Lattice but not for Score. */
function escapedText(literal: string): string {
  return literal.replaceAll("${", () => "$${");
}

const PART = /(?<!\\)\./;

/** undefined: Lattice expands it, or it is unknown. */
function ownMetadata(path: string, metadata: TextContext["metadata"]): string | undefined {
  if (!path.startsWith("metadata.")) return undefined;
  const [, ...rest] = path.split(PART).map((part) => part.replaceAll("\\.", "."));
  if (rest[0] === "name" || rest[0] === "annotations") return undefined;
  const found = valueAt(metadata, rest);
  return found === undefined || typeof found === "string" ? found : JSON.stringify(found);
}

function withOutput(path: string, { wholeResource }: TextContext): string {
  if (wholeResource === undefined) return path;
  const [root, ...rest] = path.split(PART);
  return root === "resources" && rest.length === 1 ? `${path}.${wholeResource}` : path;
}

function valueAt(value: unknown, path: readonly string[]): unknown {
  const [first, ...rest] = path;
  if (first === undefined) return value;
  return isJsonObject(value) && Object.hasOwn(value, first) ? valueAt(value[first], rest) : undefined;
}

/** The same for all texts of a value; keys are not templates. */
export function latticeJson(value: Json, context: TextContext): Result<Json, string> {
  if (typeof value === "string") return latticeText(value, context);
  if (Array.isArray(value)) return all(value.map((item: Json) => latticeJson(item, context)));
  if (!isJsonObject(value)) return ok(value);
  const keys = Object.keys(value);
  const items = all(keys.map((key) => latticeJson(value[key] ?? null, context)));
  return items.ok ? ok(Object.fromEntries(keys.map((key, index) => [key, items.value[index]]))) : items;
}

function all(results: readonly Result<Json, string>[]): Result<readonly Json[], string> {
  const wrong = results.find((result) => !result.ok);
  return wrong?.ok === false ? wrong : ok(results.flatMap((result) => (result.ok ? [result.value] : [])));
}
