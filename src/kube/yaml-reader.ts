/**
 * A fast reader of the common part of YAML: block mappings and lists, plain scalars and numbers, quoted text without escapes,
 * `|` blocks, small `[…]` and `{…}`. Several times faster than js-yaml, and the start of `lattice` depends on it.
 *
 * Any other text returns `undefined`; the caller then reads the whole text with js-yaml, which also reports errors. A property test
 * checks that both readers return the same values.
 */
import { MAX_DEPTH, type Json } from "./json.ts";

/** The only document of the text; undefined: the text needs js-yaml. */
export function readPlainYaml(text: string): Json | undefined {
  if (!ORDINARY.test(text) || !text.endsWith("\n")) return undefined;
  const lines = text.slice(0, -1).split("\n");
  return new Reader(lines, lines[0] === "---" ? 1 : 0).document();
}

const ORDINARY = /^[\n\x20-\x7e]*$/;
const UNUSUAL = Symbol("unusual");

const KEY = /^([A-Za-z_/][A-Za-z0-9_./-]*):(?: +(.*))?$/;
/** Scalars that YAML 1.1 or 1.2 reads as another type than a string. */
const SPECIAL = /^(?:true|false|yes|no|on|off|y|n|null|nan|inf|__proto__)$/i;
const INTEGER = /^(?:0|[1-9][0-9]{0,14})$/;
const AMOUNT = /^[1-9][0-9]*(?:m|[KMGTPE]i)$/;
const WORDS = /^[A-Za-z$/][A-Za-z0-9_./${}@+=;-]*(?::[A-Za-z0-9_./${}@+=;-]+)*(?: [A-Za-z0-9$/(][A-Za-z0-9_./${}@+=;,()-]*)*$/;
/** Inside brackets these characters end a scalar. */
const BRACKETS = /[[\]{},]/;
const DOUBLE_QUOTED = /^"([^"\\]*)"$/;
const SINGLE_QUOTED = /^'([^']*)'$/;

class Reader {
  readonly #lines: string[];
  #at: number;
  #unusual = false;

  constructor(lines: string[], at: number) {
    this.#lines = lines;
    this.#at = at;
  }

  document(): Json | undefined {
    const value = this.#mapping(0, MAX_DEPTH - 2);
    return this.#next() !== undefined || this.#unusual ? undefined : value;
  }

  /** Skips the rest of the text, so that every loop ends. */
  #giveUp(): Json {
    this.#unusual = true;
    this.#at = this.#lines.length;
    return null;
  }

  /** The next line with content. Empty lines and comment lines are skipped. */
  #next(): { readonly indent: number; readonly text: string } | undefined {
    for (; this.#at < this.#lines.length; this.#at += 1) {
      const line = this.#lines[this.#at] ?? "";
      const text = line.trim();
      if (text === "" || text.startsWith("#")) continue;
      if (!/^(?:---|\.\.\.|%)/.test(line)) return { indent: indentOf(line), text };
      this.#giveUp();
    }
    return undefined;
  }

  #mapping(indent: number, depth: number): Json {
    const entries: Record<string, Json> = {};
    let any = false;
    for (let line = this.#next(); line?.indent === indent; line = this.#next()) {
      const [, key, rest = ""] = KEY.exec(line.text) ?? [];
      if (key === undefined || SPECIAL.test(key) || Object.hasOwn(entries, key)) return this.#giveUp();
      this.#at += 1;
      entries[key] = this.#value(rest, indent, depth);
      any = true;
    }
    return any ? this.#ended(entries, indent) : this.#giveUp();
  }

  #sequence(indent: number, depth: number): Json {
    const items: Json[] = [];
    for (let line = this.#next(); line?.indent === indent && line.text.startsWith("- "); line = this.#next()) {
      const text = line.text.slice(2).trimStart();
      if (KEY.test(text)) {
        // "- a: 1" begins a mapping that is indented like its first key
        const inner = indent + line.text.length - text.length;
        this.#lines[this.#at] = " ".repeat(inner) + text;
        items.push(depth > 0 ? this.#mapping(inner, depth - 1) : this.#giveUp());
      } else {
        this.#at += 1;
        items.push(this.#value(text, indent, depth));
      }
    }
    return this.#ended(items, indent);
  }

  /** A line that is indented further than its block continues a value, which this reader does not support. */
  #ended(value: Json, indent: number): Json {
    const line = this.#next();
    return line === undefined || line.indent <= indent ? value : this.#giveUp();
  }

  #value(text: string, indent: number, depth: number): Json {
    if (text === "") return this.#below(indent, depth);
    if (text === "|") return this.#literal(indent);
    const value = text.startsWith("[") || text.startsWith("{") ? flow(text) : scalar(text);
    return value === UNUSUAL ? this.#giveUp() : this.#ended(value, indent);
  }

  #below(indent: number, depth: number): Json {
    const line = this.#next();
    if (line === undefined || line.indent < indent) return null;
    const isList = line.text.startsWith("- ");
    if (line.indent === indent && !isList) return null;
    if (depth <= 0) return this.#giveUp();
    return isList ? this.#sequence(line.indent, depth - 1) : this.#mapping(line.indent, depth - 1);
  }

  #literal(indent: number): Json {
    const first = this.#lines[this.#at] ?? "";
    const margin = indentOf(first);
    if (first.trim() === "" || margin <= indent) return this.#giveUp();
    let [text, blank] = ["", ""];
    for (; this.#at < this.#lines.length; this.#at += 1) {
      const line = this.#lines[this.#at] ?? "";
      const own = indentOf(line);
      if (line.trim() === "") {
        if (line.length > margin) return this.#giveUp();
        blank += "\n";
      } else if (own < margin) {
        return own <= indent ? text : this.#giveUp();
      } else {
        text += `${blank}${line.slice(margin)}\n`;
        blank = "";
      }
    }
    return text;
  }
}

function indentOf(line: string): number {
  return line.length - line.trimStart().length;
}

type Read = Json | typeof UNUSUAL;

function scalar(text: string): Read {
  const quoted = (DOUBLE_QUOTED.exec(text) ?? SINGLE_QUOTED.exec(text))?.[1];
  if (quoted !== undefined) return quoted;
  if (text === "true" || text === "false") return text === "true";
  if (INTEGER.test(text)) return Number(text);
  return AMOUNT.test(text) || (WORDS.test(text) && !SPECIAL.test(text)) ? text : UNUSUAL;
}

/** One level of brackets that contain only scalars. */
function flow(text: string): Read {
  const isList = text.startsWith("[");
  if (text.length < 2 || !text.endsWith(isList ? "]" : "}")) return UNUSUAL;
  const inner = text.slice(1, -1).trim();
  if (inner === "") return isList ? [] : {};
  const parts = inner.split(",").map((part) => part.trim());
  return isList ? flowList(parts) : flowMap(parts);
}

function flowList(parts: readonly string[]): Read {
  const items: Json[] = [];
  for (const part of parts) {
    const item = inBrackets(part);
    if (item === UNUSUAL) return UNUSUAL;
    items.push(item);
  }
  return items;
}

function flowMap(parts: readonly string[]): Read {
  const entries: Record<string, Json> = {};
  for (const part of parts) {
    const [, key, rest = ""] = KEY.exec(part) ?? [];
    if (key === undefined || SPECIAL.test(key) || Object.hasOwn(entries, key)) return UNUSUAL;
    const value = inBrackets(rest);
    if (value === UNUSUAL) return UNUSUAL;
    entries[key] = value;
  }
  return entries;
}

function inBrackets(text: string): Read {
  return /^["']/.test(text) || !BRACKETS.test(text) ? scalar(text) : UNUSUAL;
}
