/** Lists the benches, and selects those of the arguments. */
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { err, ok, type Result } from "#base";

export async function findBenches(root: string): Promise<readonly string[]> {
  const files = await readdir(join(root, "bench")).catch(() => []);
  const sources = files.filter((file) => file.endsWith(".ts") && !file.endsWith(".test.ts"));
  return sources.map((file) => file.slice(0, -".ts".length)).toSorted();
}

/** Without names: all of them. */
export function chooseBenches(known: readonly string[], asked: readonly string[]): Result<readonly string[], string> {
  const unknown = asked.filter((name) => !known.includes(name));
  if (unknown.length === 0) return ok(asked.length === 0 ? known : asked);
  return err(`there is no bench ${unknown.join(", ")}; there are: ${known.join(", ") || "none yet"}`);
}
