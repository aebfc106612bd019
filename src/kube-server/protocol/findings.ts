/**
 * What was found in a body that nobody will hear: `unknown field "spec.x"`, `duplicate field "spec.y"`, and, in YAML, `line 3: key "y" already
 * set in map`. A body may hold a hundred thousand of them: nothing here may take the square of their number.
 */
import { fieldOrder } from "./strict-json.ts";

/** Go's reader of built-in kinds says no more. */
const MOST_FINDINGS = 100;

/** Go skips what it does not know: nothing in there is counted, so nothing is there twice. */
export function ofKnownFields(duplicates: readonly string[], findings: readonly string[]): readonly string[] {
  const unknown = new Set(findings.filter((finding) => finding.startsWith("unknown")).map(pathOf));
  if (unknown.size === 0 || duplicates.length === 0) return duplicates;
  const lengths = new Set(Array.from(unknown, (path) => path.length));
  const isBelow = (path: string): boolean => {
    for (let at = 0; at <= path.length; at += 1) {
      const ends = at === path.length || path[at] === "." || path[at] === "[";
      if (ends && lengths.has(at) && unknown.has(path.slice(0, at))) return true;
    }
    return false;
  };
  return duplicates.filter((finding) => isLine(finding) || !isBelow(pathOf(finding)));
}

/** What the reader of YAML found knows its line, and no path. */
function isLine(finding: string): boolean {
  return finding.startsWith("line ");
}

/** Of `unknown field "spec.x"`. */
function pathOf(finding: string): string {
  return finding.slice(finding.indexOf('"') + 1, -1);
}

/**
 * The real reader of built-in kinds reports as it goes, so unknown and doubled fields come mixed, in the order of the text. Custom resources
 * are read first and compared with their schema later. `text`: JSON, or nothing if there is none.
 */
export function inTextOrder(findings: readonly string[], text: string): readonly string[] {
  if (findings.length < 2 || text === "") return findings.slice(0, MOST_FINDINGS);
  const order = fieldOrder(text);
  const placeOf = (finding: string) => (isLine(finding) ? -1 : (order.get(pathOf(finding)) ?? Number.MAX_SAFE_INTEGER));
  return findings.toSorted((a, b) => placeOf(a) - placeOf(b)).slice(0, MOST_FINDINGS);
}

/** In a refusal, YAML's findings are one, with the words of its reader. */
export function strictText(findings: readonly string[]): string {
  const lines = findings.filter(isLine);
  const others = findings.filter((finding) => !isLine(finding));
  return [...(lines.length === 0 ? [] : [`yaml: unmarshal errors:\n  ${lines.join("\n  ")}`]), ...others].join(", ");
}
