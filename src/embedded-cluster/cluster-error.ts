/** What the public face of the cluster throws. Tests have nobody to hand a Result to: a broken fixture ends them, with all that is wrong. */
import type { Result } from "#base";
import { describeProblem, type Problem } from "./fixtures/index.ts";

/**
 * A cluster could not do what the test asked of it: a fixture is wrong, a file is missing, a port is taken. The message says where and what
 * would fix it. What an API server refuses is no such error: clients get it as a Result.
 *
 * @example await expect(cluster.load("broken.yaml")).rejects.toThrow("broken.yaml:3");
 */
export class ClusterError extends Error {
  override readonly name = "ClusterError";
}

export function orThrow<T>(result: Result<T, string>): T {
  if (result.ok) return result.value;
  throw new ClusterError(result.error);
}

export function describeProblems(problems: readonly Problem[]): string {
  const lines = problems.map(describeProblem);
  return lines.length === 1 ? (lines[0] ?? "") : `${lines.length} problems:\n${lines.map((line) => `  ${line}`).join("\n")}`;
}
