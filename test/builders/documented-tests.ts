/** Tables in the documentation whose last column names a test: the names, and whether such a test exists. */
import { readFileSync } from "node:fs";
import { join } from "node:path";

const read = (path: string) => readFileSync(join(import.meta.dirname, "../..", path), "utf8");

/** One name per row of the tables below the heading; a row without a name is returned as it is. */
export function documentedTests(file: string, heading: string): readonly string[] {
  const [, section = ""] = read(file).split(`\n## ${heading}\n`);
  const lines = (section.split("\n## ")[0] ?? "").split("\n").filter((line) => line.startsWith("| "));
  const rows = lines.filter((line) => !line.endsWith("| test |"));
  return rows.map((row) => /`([^`]+)` \|$/.exec(row)?.[1] ?? row);
}

/** As the name of a test, or of a row of one. */
export function isTestOf(sources: readonly string[], name: string): boolean {
  return sources.map(read).some((text) => [`("${name}"`, `  "${name}",`, `name: "${name}"`].some((written) => text.includes(written)));
}
