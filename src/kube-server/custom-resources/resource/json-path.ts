/**
 * The JSONPath of printer columns and selectable fields: names, quoted names, indices, slices, `*`, `..` and filters of one
 * comparison, as in kubectl's templates. What is missing is no error: it finds nothing.
 */
import { err, ok, type Result } from "#base";
import { field, isJsonObject, type Json } from "#kube";

type Select = (values: readonly Json[]) => readonly Json[];
export type JsonPath = (root: Json) => readonly Json[];

export function parseJsonPath(text: string): Result<JsonPath, string> {
  const steps: Select[] = [];
  let rest = text.replace(/^[$@]/, "");
  while (rest !== "") {
    const step = readStep(rest);
    if (!step.ok) return step;
    steps.push(step.value.select);
    rest = rest.slice(step.value.length);
  }
  return ok((root) => steps.reduce((values: readonly Json[], select) => select(values), [root]));
}

type Step = { readonly select: Select; readonly length: number };

const NAME = /^\.((?:[^.,[\]$@{}\s\\]|\\.)+)/u;
const DESCENT = /^\.\.(?=[^.])/;
const BRACKET = /^\[((?:"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|[^\]"'])*)\]/u;

function readStep(rest: string): Result<Step, string> {
  const descent = DESCENT.exec(rest);
  if (descent !== null) return ok({ select: (values) => values.flatMap(descendants), length: rest[2] === "[" ? 2 : 1 });
  const name = NAME.exec(rest);
  if (name !== null) {
    const plain = (name[1] ?? "").replace(/\\(.)/gu, "$1");
    return ok({ select: plain === "*" ? everything : member(plain), length: name[0].length });
  }
  const bracket = BRACKET.exec(rest);
  if (bracket === null)
    return rest === "." ? ok({ select: (values) => values, length: 1 }) : err(`unrecognized character in action: ${rest}`);
  const select = readBracket((bracket[1] ?? "").trim());
  return select === undefined ? err(`invalid array index ${bracket[1]}`) : ok({ select, length: bracket[0].length });
}

function readBracket(text: string): Select | undefined {
  if (text === "*") return everything;
  const quoted = /^(["'])(.*)\1$/su.exec(text);
  if (quoted !== null) return member((quoted[2] ?? "").replace(/\\(.)/gsu, "$1"));
  const filter = /^\?\((.*)\)$/s.exec(text);
  if (filter !== null) return readFilter(filter[1] ?? "");
  const slice = /^(-?\d+)?(:)?(-?\d+)?(?::(\d+))?$/.exec(text);
  return slice === null || text === "" ? undefined : sliced(slice);
}

function member(name: string): Select {
  return (values) =>
    values.flatMap((value) => {
      const found = field(value, name);
      return found === undefined ? [] : [found];
    });
}

function everything(values: readonly Json[]): readonly Json[] {
  return values.flatMap(childrenOf);
}

function childrenOf(value: Json): readonly Json[] {
  if (Array.isArray(value)) return value;
  return isJsonObject(value) ? Object.values(value).filter((item) => item !== undefined) : [];
}

function descendants(value: Json): readonly Json[] {
  return [value, ...childrenOf(value).flatMap(descendants)];
}

function sliced([, start, colon, end, step]: RegExpExecArray): Select {
  return (values) =>
    values.flatMap((value) => {
      if (!Array.isArray(value)) return [];
      if (colon === undefined) {
        const item = value.at(Number(start)) as Json | undefined;
        return item === undefined ? [] : [item];
      }
      const part: readonly Json[] = value.slice(Number(start ?? 0), end === undefined ? undefined : Number(end));
      return part.filter((_, at) => at % Math.max(1, Number(step ?? 1)) === 0);
    });
}

const COMPARISONS: ReadonlyMap<string, (a: string | number, b: string | number) => boolean> = new Map<
  string,
  (a: string | number, b: string | number) => boolean
>([
  ["==", (a, b) => a === b],
  ["!=", (a, b) => a !== b],
  ["<", (a, b) => a < b],
  ["<=", (a, b) => a <= b],
  [">", (a, b) => a > b],
  [">=", (a, b) => a >= b],
]);

/** `@.type=="Ready"`, or `@.name`, which asks whether it is there. */
function readFilter(text: string): Select | undefined {
  const parts = /^\s*(@[^=!<>]*?)\s*(?:(==|!=|<=|>=|<|>)\s*(.*?))?\s*$/s.exec(text);
  const left = parts === null ? undefined : parseJsonPath(parts[1] ?? "");
  if (parts === null || left === undefined || !left.ok) return undefined;
  const path = left.value;
  const compare = COMPARISONS.get(parts[2] ?? "");
  const right = literal(parts[3] ?? "");
  return (values) =>
    everything(values).filter((item) => {
      const [found] = path(item);
      if (compare === undefined || found === undefined) return found !== undefined;
      return compare(comparable(found), right);
    });
}

function literal(text: string): string | number {
  const quoted = /^(["'])(.*)\1$/su.exec(text);
  if (quoted !== null) return quoted[2] ?? "";
  return /^-?\d+(?:\.\d+)?$/.test(text) ? Number(text) : text;
}

function comparable(value: Json): string | number {
  return typeof value === "number" || typeof value === "string" ? value : JSON.stringify(value);
}
