/** The arguments of `npm run test:kube`: two are ours, all others go to vitest as they are. */
import { err, ok, type Result } from "#base";

export type Arguments = {
  /** Start a plane and keep it until Ctrl-C, instead of running stories. */
  readonly up: boolean;
  readonly bin: string | undefined;
  readonly vitest: readonly string[];
};

export function parseArguments(args: readonly string[]): Result<Arguments, string> {
  const vitest: string[] = [];
  let up = false;
  let bin: string | undefined;
  for (let index = 0; index < args.length; index++) {
    const arg = args[index] ?? "";
    if (arg === "--up") up = true;
    else if (arg.startsWith("--bin=")) bin = arg.slice("--bin=".length);
    else if (arg === "--bin") bin = args[++index] ?? "";
    else vitest.push(arg);
  }
  if (bin === "") return err("--bin needs a folder");
  if (up && vitest.length > 0) return err(`--up runs no stories, so it takes no ${vitest.join(" ")}`);
  return ok({ up, bin, vitest });
}
