/** The check `tests`: `npm test` in a separate process. On success only its figures are shown. */
import { join } from "node:path";
import { runNode } from "../process/run-program.ts";
import type { Finding } from "./finding.ts";

const SHOWN_ON_FAILURE = 120;

export async function checkTests(root: string): Promise<readonly Finding[]> {
  const ran = await runNode(join(root, "scripts", "test.ts"), [], { cwd: root });
  const lines = `${ran.stderr}${ran.stdout}`.trimEnd().split("\n");
  if (ran.code !== 0) return lines.slice(-SHOWN_ON_FAILURE).map((message) => ({ message }));
  const summary = lines.filter((line) => line.startsWith("coverage of ")).concat(lines.at(-1) ?? "");
  return summary.map((message) => ({ message, level: "note" as const }));
}
