/**
 * A JSON document as YAML comments, with its digest: a file that clusterctl skips and a person can read. Pure.
 *
 * The digest finds edits and lost lines; it is no protection against a person who computes it again.
 */
import { err, ok, sha256Hex, type Result } from "#base";
import { parseJson, type Json } from "#kube";

const PREFIX = "# ";
const DIGEST = "# sha256 ";

export function commentedJson(title: string, value: Json): string {
  const lines = JSON.stringify(value, null, 1)
    .split("\n")
    .map((line) => `${PREFIX}${line}\n`);
  return `${PREFIX}${title}\n${lines.join("")}${DIGEST}${sha256Hex(lines.join(""))}\n`;
}

export function parseCommentedJson(text: string): Result<Json, string> {
  const end = text.lastIndexOf(DIGEST);
  const start = text.indexOf("\n") + 1;
  if (start === 0 || end < start) return err("is incomplete");
  const body = text.slice(start, end);
  if (text.slice(end + DIGEST.length).trimEnd() !== sha256Hex(body)) return err("was changed, or is incomplete");
  const json = body
    .split("\n")
    .map((line) => line.slice(PREFIX.length))
    .join("\n");
  const parsed = parseJson(json);
  return parsed.ok ? ok(parsed.value) : err("is no JSON in comments");
}
