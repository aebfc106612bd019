/**
 * Unknown and duplicate fields of a body: `unknown field "spec.x"`, `duplicate field "spec.y"`, and, in YAML, `line 3: key "y" already set in
 * map`. A body may contain a hundred thousand of them: nothing here may take quadratic time.
 */
import { fieldOrder } from "./strict-json.ts";

/** The limit of Go's decoder of built-in kinds. */
const MOST_FINDINGS = 100;

/** Go skips the value of an unknown field, so it reports no duplicates inside it. */
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

/** Findings of the YAML parser have a line number and no path. */
function isLine(finding: string): boolean {
  return finding.startsWith("line ");
}

/** Of `unknown field "spec.x"`. */
function pathOf(finding: string): string {
  return finding.slice(finding.indexOf('"') + 1, -1);
}

/**
 * The decoder of a real server reports unknown and duplicate fields of built-in kinds mixed, in the order of the text. Custom resources are
 * decoded first and compared with their schema later. `text`: the body as JSON, "" if there is none.
 */
export function inTextOrder(findings: readonly string[], text: string): readonly string[] {
  if (findings.length < 2 || text === "") return findings.slice(0, MOST_FINDINGS);
  const order = fieldOrder(text);
  const placeOf = (finding: string) => (isLine(finding) ? -1 : (order.get(pathOf(finding)) ?? Number.MAX_SAFE_INTEGER));
  return findings.toSorted((a, b) => placeOf(a) - placeOf(b)).slice(0, MOST_FINDINGS);
}

/** In an error message, all findings of the YAML parser form one entry. */
export function strictText(findings: readonly string[]): string {
  const lines = findings.filter(isLine);
  const others = findings.filter((finding) => !isLine(finding));
  return [...(lines.length === 0 ? [] : [`yaml: unmarshal errors:\n  ${lines.join("\n  ")}`]), ...others].join(", ");
}
