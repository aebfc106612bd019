/** Negotiation of the version of the protocol. Fields that are added do not change it: a receiver ignores fields that it does not have. */
import { err, ok, type Result } from "#base";

/** The versions that this program can use, the preferred one first. */
export const PROTOCOL_VERSIONS: readonly number[] = [1];

/** The first version of the agent that the cell has as well. An agent that offers none is one from before negotiation: it uses 1. */
export function negotiateVersion(offered: readonly number[], supported: readonly number[] = PROTOCOL_VERSIONS): Result<number, string> {
  const wanted = offered.length === 0 ? [1] : offered;
  const common = wanted.find((version) => supported.includes(version));
  if (common !== undefined) return ok(common);
  const older = Math.max(...wanted) < Math.min(...supported) ? "agent" : "cell";
  return err(`the agent has protocol versions ${wanted.join(", ")}, the cell ${supported.join(", ")}; update the ${older}`);
}
