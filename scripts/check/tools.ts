/** The checks lint (oxlint) and format (oxfmt), and how the output of such a program becomes findings. */
import { toolPath } from "../process/project.ts";
import { runNode, type Ran } from "../process/run-program.ts";
import type { Finding } from "./finding.ts";

export async function checkLint(root: string): Promise<readonly Finding[]> {
  const env = { ...process.env, OXLINT_TSGOLINT_PATH: toolPath("tsgolint") }; // it would look in PATH, which only npm sets
  const ran = await runNode(toolPath("oxlint"), ["--type-aware", "--deny-warnings", "--format=unix"], { cwd: root, env });
  return findingsOf(ran, (line) => readOxlintLine(line));
}

export async function checkFormat(root: string): Promise<readonly Finding[]> {
  const ran = await runNode(toolPath("oxfmt"), ["--list-different"], { cwd: root });
  return findingsOf(ran, (file) => ({ file, message: "is not formatted; npm run format does it" }));
}

/** Undefined: a continuation line, which explains the type error above. */
export function readTscLine(line: string): Finding | undefined {
  const parts = /^(.+?)\((\d+),\d+\): error (TS\d+: .*)$/.exec(line);
  if (parts?.[1] !== undefined && parts[3] !== undefined) return { file: parts[1], line: Number(parts[2]), message: parts[3] };
  const loose = /^error (TS\d+: .*)$/.exec(line)?.[1];
  return loose === undefined ? undefined : { message: loose };
}

export function readOxlintLine(line: string): Finding | undefined {
  const parts = /^(.+?):(\d+):\d+: (.*)$/.exec(line);
  return parts?.[1] === undefined || parts[3] === undefined ? undefined : { file: parts[1], line: Number(parts[2]), message: parts[3] };
}

/** A tool that failed without a line that can be parsed has failed too: then its whole output is the finding. */
export function findingsOf(ran: Ran, read: (line: string) => Finding | undefined): readonly Finding[] {
  if (ran.code === 0) return [];
  const lines = ran.stdout.split("\n").map((line) => line.trimEnd());
  const found = lines.flatMap((line) => (line === "" ? [] : (read(line) ?? [])));
  return found.length > 0 ? found : [{ message: `exit code ${ran.code}: ${`${ran.stdout}${ran.stderr}`.trim()}` }];
}
