/** The error that the public API of the cluster throws: an invalid fixture fails the test, with all problems in the message. */
import type { Result } from "#base";
import { describeProblem, type Problem } from "./fixtures/index.ts";

/**
 * The test uses the cluster wrongly: a fixture is invalid, a file is missing, a port is in use. The message has the position and the fix.
 * Errors of the API server are not thrown: clients return them as a Result.
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
