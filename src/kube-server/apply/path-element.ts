/**
 * One element of a path to a field, in the text form of FieldsV1: `f:name`, `k:{"name":"a"}` (the item with these keys), `v:"x"` (this
 * value of a set), `i:3` (this index of a list).
 *
 * The text is always in canonical form (keys sorted, no white space), so two elements are equal exactly when their texts are. Only sorting
 * and printing parse it.
 */
import { err, memoize, ok, type Result } from "#base";
import { goCompareText, goFloatText, isJsonObject, goJsonText, goNumberText, parseJson, goQuote, goStringText, type Json } from "#kube";

export type PathElement = string;
export type FieldPath = readonly PathElement[];

export type KeyField = readonly [name: string, value: Json];

/** Bounded, because names come from users; but most are field names of kinds. */
const LIMITS = { limit: 40_000 };

/** Cached, because the same names occur in every write, and a newly concatenated text must be hashed again. */
export const fieldElement = memoize(LIMITS, (name: string): PathElement => `f:${name}`);

export function fieldPath(...names: readonly string[]): FieldPath {
  return names.map(fieldElement);
}

/** `fields` sorted by name. */
export function keyElement(fields: readonly KeyField[]): PathElement {
  return `k:{${fields.map(([name, value]) => `${goStringText(name)}:${goJsonText(value)}`).join(",")}}`;
}

export function valueElement(value: Json): PathElement {
  return `v:${goJsonText(value)}`;
}

export function indexElement(index: number): PathElement {
  return `i:${index}`;
}

/** The name of a field step; `undefined` for the steps into lists. */
export function fieldNameOf(element: PathElement): string | undefined {
  return element.startsWith("f:") ? element.slice(2) : undefined;
}

export function isKeyElement(element: PathElement): boolean {
  return element.startsWith("k:");
}

/** The keys of a `k:` element, sorted by name. Cached, because the same elements occur in every write to an object. */
const keyFieldsOf = memoize(LIMITS, (element: PathElement): readonly KeyField[] => {
  const parsed: unknown = JSON.parse(element.slice(2));
  return isJsonObject(parsed)
    ? Object.entries(parsed)
        .map(([name, value]) => [name, value ?? null] as const)
        .toSorted(([a], [b]) => goCompareText(a, b))
    : [];
});

/** The canonical form of a `k:` step. */
const canonicalKeyElement = memoize(LIMITS, (text: string): Result<PathElement, string> => {
  const keys = parseJson(text.slice(2));
  if (!keys.ok) return keys;
  return isJsonObject(keys.value) ? ok(keyElement(keyFieldsOf(text))) : err(`not an object: ${text}`);
});

function contentOf(element: PathElement): Json {
  return JSON.parse(element.slice(2)) as Json;
}

/** Parses an element of any origin; `undefined` for unknown kinds of elements, which are skipped. */
export function parsePathElement(text: string): Result<PathElement | undefined, string> {
  if (text.length < 2) return err("key must be 2 characters long:");
  if (text[1] !== ":") return err(`missing colon: ${text}`);
  switch (text[0]) {
    case "f":
      return ok(text);
    case "v": {
      const value = parseJson(text.slice(2));
      return value.ok ? ok(valueElement(value.value)) : value;
    }
    case "k":
      return canonicalKeyElement(text);
    case "i":
      return /^i:[+-]?\d{1,15}$/.test(text) ? ok(indexElement(Number(text.slice(2)))) : err(`not a number: ${text}`);
    default:
      return ok(undefined);
  }
}

const KINDS = "fkvi";

/** An element with its content, parsed once per sort; the content of a field is its text. */
type Sortable = { readonly text: PathElement; readonly kind: number; readonly keys: readonly KeyField[]; readonly content: Json };

const NOT_IN_NATIVE_ORDER = /^[^f]|[\ud800-\udfff]/;

/** Field names without surrogates (nearly all) use the native sort. */
export function sortElements(elements: Iterable<PathElement>): PathElement[] {
  const list = [...elements];
  if (list.length < 2) return list;
  if (!list.some((element) => NOT_IN_NATIVE_ORDER.test(element))) return list.toSorted();
  return list
    .map(sortable)
    .toSorted(compareSortable)
    .map(({ text }) => text);
}

function sortable(text: PathElement): Sortable {
  const kind = KINDS.indexOf(text.charAt(0));
  if (kind === 1) return { text, kind, keys: keyFieldsOf(text), content: null };
  return { text, kind, keys: [], content: kind === 0 ? text : contentOf(text) };
}

function compareSortable(a: Sortable, b: Sortable): number {
  return a.kind - b.kind || compareKeys(a.keys, b.keys) || compareValues(a.content, b.content);
}

function compareKeys(a: readonly KeyField[], b: readonly KeyField[]): number {
  for (const [index, [name, value]] of a.entries()) {
    const other = b[index];
    if (other === undefined) return 1;
    const order = goCompareText(name, other[0]) || compareValues(value, other[1]);
    if (order !== 0) return order;
  }
  return a.length - b.length;
}

/** Numbers, then texts, booleans, lists, maps, null. */
export function compareValues(a: Json, b: Json): number {
  const rank = rankOf(a);
  if (rank !== rankOf(b)) return rank - rankOf(b);
  if (typeof a === "string" && typeof b === "string") return goCompareText(a, b);
  if (Array.isArray(a) && Array.isArray(b)) return compareKeys([...a.entries()].map(indexed), [...b.entries()].map(indexed));
  if (isJsonObject(a) && isJsonObject(b)) return compareKeys(keyFieldsOf(valueElement(a)), keyFieldsOf(valueElement(b)));
  return Number(a) - Number(b);
}

function indexed([, value]: readonly [number, Json]): KeyField {
  return ["", value];
}

function rankOf(value: Json): number {
  if (typeof value === "number") return 0;
  if (typeof value === "string") return 1;
  if (typeof value === "boolean") return 2;
  if (Array.isArray(value)) return 3;
  return value === null ? 5 : 4;
}

type NumberText = (value: number) => string;

/** `.spec.ports[port=80,protocol="TCP"].name`, as in error messages. */
export function pathText(path: FieldPath): string {
  return path.map((element) => elementText(element)).join("");
}

/** The same for a path that was parsed from managedFields: Go decodes its numbers as float64, and prints large ones with an exponent. */
export function storedPathText(path: FieldPath): string {
  return path.map((element) => elementText(element, goFloatText)).join("");
}

export function elementText(element: PathElement, numbers: NumberText = goNumberText): string {
  switch (element.charAt(0)) {
    case "f":
      return `.${element.slice(2)}`;
    case "k":
      return `[${keyFieldsOf(element)
        .map(([name, value]) => `${name}=${valueText(value, numbers)}`)
        .join(",")}]`;
    case "v":
      return `[=${valueText(contentOf(element), numbers)}]`;
    default:
      return `[${element.slice(2)}]`;
  }
}

function valueText(value: Json, numbers: NumberText): string {
  if (typeof value === "string") return goQuote(value);
  if (typeof value === "number") return numbers(value);
  if (Array.isArray(value)) return `[${value.map((item: Json) => valueText(item, numbers)).join(",")}]`;
  if (!isJsonObject(value)) return JSON.stringify(value);
  return Object.entries(value)
    .map(([name, item]) => `${name}=${valueText(item ?? null, numbers)}`)
    .join("");
}
