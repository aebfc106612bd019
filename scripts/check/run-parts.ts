/** Runs parts of the gate one after the other and prints a line for each. All of them run, so that all findings are reported at once. */
import { describeThrown, err, ok, type Clock, type Result } from "#base";
import { formatFinding, isError, type Check, type Finding } from "./finding.ts";

export type Parts = ReadonlyMap<string, Check>;

/** `--only a,b` and `--skip a,b`. A name that does not exist is an error: a gate that checks nothing must not pass. */
export function chooseParts(parts: Parts, args: readonly string[]): Result<Parts, string> {
  let chosen = [...parts.keys()];
  for (let index = 0; index < args.length; index += 2) {
    const [option, value] = [args[index], args[index + 1]];
    if ((option !== "--only" && option !== "--skip") || value === undefined) return err(usage(parts));
    const named = value.split(",");
    const unknown = named.find((name) => !parts.has(name));
    if (unknown !== undefined) return err(`there is no part "${unknown}". ${usage(parts)}`);
    chosen = chosen.filter((name) => named.includes(name) === (option === "--only"));
  }
  return ok(new Map([...parts].filter(([name]) => chosen.includes(name))));
}

function usage(parts: Parts): string {
  return `usage: npm run check -- [--only a,b] [--skip a,b]; parts: ${[...parts.keys()].join(", ")}`;
}

/** The names of the parts that failed. */
export async function runParts(parts: Parts, root: string, clock: Clock, print: (line: string) => void): Promise<readonly string[]> {
  const failed: string[] = [];
  for (const [name, check] of parts) {
    const start = clock.monotonic();
    const findings = await runCheck(check, root);
    const seconds = ((clock.monotonic() - start) / 1_000).toFixed(1);
    const fails = findings.some(isError);
    if (fails) failed.push(name);
    print(`${fails ? "FAIL" : "ok  "}  ${name.padEnd(9)}  ${seconds} s`);
    for (const finding of findings) print(`        ${formatFinding(finding)}`);
  }
  return failed;
}

/** A check that throws (package.json is not JSON) has failed; the other parts still run. */
async function runCheck(check: Check, root: string): Promise<readonly Finding[]> {
  try {
    return await check(root);
  } catch (thrown) {
    return [{ message: describeThrown(thrown) }];
  }
}
