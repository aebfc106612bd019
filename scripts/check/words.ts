/**
 * The check `words`: comments, texts, names and documents are written in the nouns of the field (word-rules.ts).
 *
 * It reads the syntax tree, so that `password` or a part of a URL is not a finding. Test data of other programs is not read.
 */
import { posix } from "node:path";
import { parseSync } from "vite";
import type { Finding } from "./finding.ts";
import { listFiles, lineAt, readTexts } from "./tree.ts";
import { isExcepted, WORD_RULES } from "./word-rules.ts";

const RECORDED = /^test\/conformance\/.*\/|\/__snapshots__\/|\.generated\.|\/generated\//;

/** Most files contain none of the words, and are not parsed. */
const ANY = new RegExp(WORD_RULES.flatMap(({ words }) => words).join("|"), "i");
const RULES = WORD_RULES.map((rule) => ({ ...rule, pattern: new RegExp(String.raw`\b(?:${rule.words.join("|")})\b`, "gi") }));

type Span = { readonly start: number; readonly text: string; readonly isName: boolean };

export async function checkWords(root: string): Promise<readonly Finding[]> {
  const files = (await listFiles(root)).filter((path) => /\.(md|[cm]?[jt]s)$/.test(path) && !RECORDED.test(path));
  const texts = await readTexts(root, files);
  return [...texts].flatMap(([file, text]) => wordsIn(file, text));
}

export function wordsIn(file: string, text: string): readonly Finding[] {
  if (!ANY.test(file) && !ANY.test(text)) return [];
  const name = { start: 0, text: posix.basename(file).replace(/\.\w+$/, ""), isName: true };
  const spans = file.endsWith(".md") ? [{ start: 0, text, isName: false }] : spansIn(file, text);
  const findings = [name, ...spans].flatMap((span) => findingsIn(file, text, span));
  return findings.filter((one, at) => findings.findIndex(({ line, message }) => line === one.line && message === one.message) === at);
}

function findingsIn(file: string, whole: string, { start, text, isName }: Span): readonly Finding[] {
  const plain = isName ? text.replace(/([a-z0-9])([A-Z])/g, "$1 $2").replaceAll(/[_-]/g, " ") : text;
  return RULES.flatMap(({ pattern, where, instead }) => {
    if (isName && where === "comments") return [];
    return [...plain.matchAll(pattern)].flatMap((match) => {
      const word = match[0].toLowerCase();
      if (isExcepted(file, word)) return [];
      const what = isName ? `the name ${text} has the word "${word}"` : `"${word}"`;
      return [{ file, line: lineAt(whole, start + (isName ? 0 : match.index)), message: `${what}: ${instead}` }];
    });
  });
}

type Node = { readonly type: string; readonly start: number; readonly end: number; readonly [field: string]: unknown };

function spansIn(file: string, text: string): readonly Span[] {
  const { program, comments } = parseSync(file, text);
  const spans: Span[] = comments.map(({ start, end }) => ({ start, text: text.slice(start, end), isName: false }));
  const ahead: unknown[] = [program];
  for (let value = ahead.pop(); value !== undefined; value = ahead.pop()) {
    if (typeof value !== "object" || value === null) continue;
    if (Array.isArray(value)) for (const item of value) ahead.push(item);
    else {
      const span = spanOf(value as Node, text);
      if (span !== undefined) spans.push(span);
      for (const inner of Object.values(value)) if (typeof inner === "object" && inner !== null) ahead.push(inner);
    }
  }
  return spans.toSorted((a, b) => a.start - b.start);
}

function spanOf(node: Node, text: string): Span | undefined {
  if (node.type === "Identifier" || node.type === "PrivateIdentifier") {
    return { start: node.start, text: String(node["name"]), isName: true };
  }
  const isText = node.type === "TemplateElement" || (node.type === "Literal" && typeof node["value"] === "string");
  return isText ? { start: node.start, text: text.slice(node.start, node.end), isName: false } : undefined;
}
