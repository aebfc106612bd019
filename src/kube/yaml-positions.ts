/**
 * Line and column of a field in a YAML text: of its key, or of the item of a list. The text is parsed a second time for it, so it is
 * called only to report an error.
 */
import { EVENT_ID, getScalarValue, parseEvents, SCALAR_STYLE, type Event, type ScalarEvent } from "js-yaml";
import type { FieldStep } from "./field-path.ts";
import { MAX_DEPTH } from "./json.ts";
import { readPadded, unpadded } from "./yaml.ts";

/** Line and column start at 1. */
export type Position = { readonly line: number; readonly column: number };

/** `document` starts at 1 and does not count empty documents, like the result of `parseYaml`. Undefined if there is no such document. */
export type YamlPositions = (document: number, steps: readonly FieldStep[]) => Position | undefined;

type Node = { readonly at: number; readonly fields?: Map<string, Field>; readonly items?: Node[]; readonly isNull?: boolean };
type Field = { readonly at: number; readonly value: Node };

/** The positions in a text that `parseYaml` accepts; undefined in any other text. */
export function yamlPositions(text: string): YamlPositions {
  const { result: events, lines } = readPadded(text, (padded) => parseEvents(padded, { maxDepth: MAX_DEPTH }));
  if (!events.ok) return () => undefined;
  const source = lines?.join("\n") ?? text;
  const documents = new Tree(source, events.value).documents().filter(({ isNull }) => isNull !== true);
  const starts = lineStarts(source);
  return (document, steps) => {
    const root = documents[document - 1];
    return root === undefined ? undefined : unpadded(positionAt(offsetOf(root, steps), starts), lines ?? []);
  };
}

/** The offset of the deepest existing field. */
function offsetOf(root: Node, steps: readonly FieldStep[]): number {
  let [node, at] = [root, root.at];
  for (const step of steps) {
    const item = typeof step === "number" ? node.items?.[step] : undefined;
    const field = typeof step === "string" ? node.fields?.get(step) : undefined;
    const next = item ?? field?.value;
    if (next === undefined) break;
    [node, at] = [next, field?.at ?? next.at];
  }
  return at;
}

/** Builds the nodes of one text. */
class Tree {
  readonly #text: string;
  readonly #events: readonly Event[];
  #next = 0;

  constructor(text: string, events: readonly Event[]) {
    this.#text = text;
    this.#events = events;
  }

  documents(): readonly Node[] {
    const roots: Node[] = [];
    while (this.#next < this.#events.length) {
      this.#next += 1;
      const root = this.#node();
      roots.push(root ?? { at: 0, isNull: true });
      if (root !== undefined) this.#next += 1;
    }
    return roots;
  }

  /** Undefined at the end of a collection or document. The parser bounds the depth. */
  #node(): Node | undefined {
    const event = this.#events[this.#next];
    this.#next += 1;
    switch (event?.type) {
      case EVENT_ID.SCALAR:
        return { at: startOf(event), isNull: this.#isNull(event) };
      case EVENT_ID.ALIAS:
        return { at: event.anchorStart };
      case EVENT_ID.SEQUENCE:
        return { at: event.start, items: this.#items() };
      case EVENT_ID.MAPPING:
        return { at: event.start, fields: this.#fields() };
      default:
        return undefined;
    }
  }

  #items(): Node[] {
    const items: Node[] = [];
    for (let item = this.#node(); item !== undefined; item = this.#node()) items.push(item);
    return items;
  }

  #fields(): Map<string, Field> {
    const fields = new Map<string, Field>();
    for (let key = this.#events[this.#next]; key !== undefined; key = this.#events[this.#next]) {
      const start = this.#node();
      const value = start === undefined ? undefined : this.#node();
      if (start === undefined || value === undefined) break;
      if (key.type === EVENT_ID.SCALAR) fields.set(getScalarValue(this.#text, key), { at: start.at, value });
    }
    return fields;
  }

  #isNull(event: ScalarEvent): boolean {
    return event.style === SCALAR_STYLE.PLAIN && /^(?:|~|null|Null|NULL)$/.test(getScalarValue(this.#text, event));
  }
}

/** Includes the quote before the value. */
function startOf({ valueStart, style }: ScalarEvent): number {
  const quoted = style === SCALAR_STYLE.SINGLE_QUOTED || style === SCALAR_STYLE.DOUBLE_QUOTED;
  return Math.max(0, quoted ? valueStart - 1 : valueStart);
}

function lineStarts(text: string): readonly number[] {
  const starts = [0];
  for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) starts.push(at + 1);
  return starts;
}

function positionAt(offset: number, starts: readonly number[]): Position {
  let [from, to] = [0, starts.length - 1];
  while (from < to) {
    const middle = (from + to + 1) >> 1;
    if ((starts[middle] ?? 0) <= offset) from = middle;
    else to = middle - 1;
  }
  return { line: from + 1, column: offset - (starts[from] ?? 0) + 1 };
}
