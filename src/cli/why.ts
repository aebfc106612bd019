/**
 * `lattice why`: explains whether one service reaches another; or, with `--assert`, checks assertions.
 *
 * Exit code 0: open, 1: closed. Where the callee has several ports and none is given, one open port makes it open: "closed" means that all
 * are closed.
 */
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { describeThrown, err, fromPromise, ok, type Result } from "#base";
import { checkAssertions, formatAnswers, formatAssertions, parseAssertions, why, type Assertion, type WhyQuestion } from "#compile";
import { parseYaml } from "#kube";
import { reportFailure, type CliIo, type ExitCode } from "./io.ts";
import { MAX_SMALL_FILE, readRegularText } from "./regular-file.ts";
import { terminalTable } from "./terminal/terminal-table.ts";
import { describeProblems, readSource, type SourceFlags, type SourceWorld } from "./world-source.ts";

export type WhyFlags = SourceFlags & {
  readonly assert?: string;
  readonly method?: string;
  readonly path?: string;
  readonly output: "text" | "json";
};

export async function explainReach(io: CliIo, given: readonly string[], written: WhyFlags): Promise<ExitCode> {
  const { names, flags } = written.assert === undefined ? namesBehindFiles(io, given, written) : { names: given, flags: written };
  const question = flags.assert === undefined ? questionOf(names, flags) : ok(undefined);
  if (!question.ok) return reportFailure(io, question.error);
  if (flags.assert !== undefined && names.length > 0)
    return reportFailure(io, "--assert takes its questions from a file; leave out the two names");
  const assertions = flags.assert === undefined ? ok([]) : await readAssertions(io, flags.assert);
  if (!assertions.ok) return reportFailure(io, assertions.error);
  const source = await readSource(io, flags);
  if (!source.ok) return reportFailure(io, source.error);
  if (source.value.problems.length > 0) return reportFailure(io, describeProblems(source.value.problems));
  for (const note of source.value.notes) io.stderr(`warning: ${note}\n`);
  return question.value === undefined
    ? printAssertions(io, source.value, assertions.value, flags)
    : answer(io, source.value, question.value, flags);
}

/** `-f FILES… A B`: arguments after -f are parsed as files, and the last two of them may be the names. */
function namesBehindFiles(
  io: CliIo,
  names: readonly string[],
  flags: WhyFlags,
): { readonly names: readonly string[]; readonly flags: WhyFlags } {
  const last = flags.filename?.slice(-2) ?? [];
  const files = flags.filename?.slice(0, -2) ?? [];
  if (names.length > 0 || files.length === 0 || last.some((word) => existsSync(resolve(io.cwd, word)))) return { names, flags };
  return { names: last, flags: { ...flags, filename: files } };
}

/** `B:port`; a name contains no colon. */
function questionOf([from, to, ...rest]: readonly string[], { method, path }: WhyFlags): Result<WhyQuestion, string> {
  if (from === undefined || to === undefined || rest.length > 0)
    return err("give a caller and a callee: lattice why frontend api, or lattice why shop/frontend shop/api:8080");
  const colon = to.indexOf(":");
  const port = colon < 0 ? undefined : to.slice(colon + 1);
  return ok({ from, to: colon < 0 ? to : to.slice(0, colon), port, method, path });
}

function answer(io: CliIo, { world, places, objects, names }: SourceWorld, question: WhyQuestion, { output }: WhyFlags): ExitCode {
  const answers = why(world, { ...question, scope: names }, objects);
  if (!answers.ok) return reportFailure(io, answers.error);
  io.stdout(
    output === "json"
      ? `${JSON.stringify(answers.value, undefined, 2)}\n`
      : formatAnswers(answers.value, { places, table: terminalTable(io) }),
  );
  return answers.value.some(({ open }) => open) ? 0 : 1;
}

async function readAssertions(io: CliIo, path: string): Promise<Result<readonly Assertion[], string>> {
  const text =
    path === "-"
      ? await fromPromise(io.stdin(), describeThrown)
      : readRegularText(resolve(io.cwd, path), { bytes: MAX_SMALL_FILE, pipes: true });
  if (!text.ok) return err(`--assert ${path}: ${text.error}`);
  const parsed = parseYaml(text.value);
  if (!parsed.ok) return err(`--assert ${path}: ${parsed.error.message}`);
  const assertions = parseAssertions(parsed.value[0] ?? null);
  return assertions.ok ? assertions : err(`--assert ${path}:\n  ${assertions.error.join("\n  ")}`);
}

function printAssertions(io: CliIo, { world, objects }: SourceWorld, assertions: readonly Assertion[], { output }: WhyFlags): ExitCode {
  const results = checkAssertions(world, assertions, objects);
  io.stdout(output === "json" ? `${JSON.stringify(results, undefined, 2)}\n` : formatAssertions(results));
  return results.every(({ holds }) => holds) ? 0 : 1;
}
