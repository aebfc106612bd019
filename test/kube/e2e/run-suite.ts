/** Runs specs of Kubernetes' end-to-end suite (e2e.test) against a server, with progress. The result is read from Ginkgo's JSON report. */
import { createWriteStream } from "node:fs";
import { readFile } from "node:fs/promises";
import { spawn } from "node:child_process";
import { join } from "node:path";
import { err, map, type Result } from "#base";
import { E2eProgress, readE2eReport, type E2eReport } from "../../../scripts/kube/e2e-report.ts";
import type { E2eSuite } from "./suites.ts";

export type E2eRun = {
  /** Folders of e2e.test and kubectl. */
  readonly suite: string;
  readonly kubectl: string;
  readonly kubeconfig: string;
  /** Folder for the report and the log. */
  readonly folder: string;
  readonly say: (line: string) => void;
};

/** The time limit of the suite. */
export const E2E_MINUTES = 30;
const SAY_EVERY = 10;

/** Without a report the error has the last lines of the log. */
export async function runSuite({ focus, skips, beside }: E2eSuite, run: E2eRun): Promise<Result<E2eReport, string>> {
  const patterns = skips.map(({ pattern }) => pattern);
  const parts = [
    { name: "specs", focus, skip: beside === undefined ? patterns : [...patterns, beside] },
    ...(beside === undefined ? [] : [{ name: "beside", focus: beside, skip: patterns }]),
  ];
  const printer = new ProgressPrinter(run.say);
  const ran = await Promise.all(parts.map((part) => runPart(part, run, printer)));
  return ran.reduce((all, one) => (all.ok && one.ok ? map(one, (report) => both(all.value, report)) : all.ok ? one : all));
}

type Part = { readonly name: string; readonly focus: string; readonly skip: readonly string[] };

async function runPart(part: Part, run: E2eRun, printer: ProgressPrinter): Promise<Result<E2eReport, string>> {
  const progress = new E2eProgress();
  printer.add(progress);
  const report = join(run.folder, `${part.name}.json`);
  const log = join(run.folder, `${part.name}.log`);
  const args = [
    `--kubeconfig=${run.kubeconfig}`,
    `--kubectl-path=${run.kubectl}`,
    "--provider=local",
    "--disable-log-dump=true",
    `--ginkgo.focus=${part.focus}`,
    `--ginkgo.skip=${part.skip.join("|")}`,
    `--ginkgo.timeout=${E2E_MINUTES}m`,
    `--ginkgo.json-report=${report}`,
    "--ginkgo.no-color",
    "--ginkgo.silence-skips",
  ];
  const onOutput = (chunk: string) => {
    progress.read(chunk);
    printer.update();
  };
  await runToFile(run.suite, args, { cwd: run.folder, log, onOutput });
  return readFile(report, "utf8").then(readE2eReport, async () => err(`e2e.test left no report:\n${await lastLines(log)}`));
}

/** Prints a failure at once, and the count after every ten specs. */
class ProgressPrinter {
  readonly #say: (line: string) => void;
  readonly #parts: E2eProgress[] = [];
  #failures = 0;
  #completed = 0;

  constructor(say: (line: string) => void) {
    this.#say = say;
  }

  add(part: E2eProgress): void {
    this.#parts.push(part);
  }

  update(): void {
    const failures = this.#parts.flatMap((part) => part.failures);
    for (const name of failures.slice(this.#failures)) this.#say(`failed: ${name}`);
    this.#failures = failures.length;
    const completed = sum(this.#parts.map((part) => part.completed));
    if (completed < this.#completed + SAY_EVERY) return;
    this.#completed = completed;
    this.#say(`${completed} of ${sum(this.#parts.map((part) => part.total))} specs have ended`);
  }
}

type Output = { readonly cwd: string; readonly log: string; readonly onOutput: (chunk: string) => void };

function runToFile(program: string, args: readonly string[], { cwd, log, onOutput }: Output): Promise<void> {
  return new Promise((resolve) => {
    const output = createWriteStream(log);
    const child = spawn(program, args, { cwd, stdio: ["ignore", "pipe", "pipe"] });
    child.stdout.setEncoding("utf8").on("data", onOutput).pipe(output, { end: false });
    child.stderr.pipe(output, { end: false });
    child.once("error", (error) => output.write(error.message));
    child.once("close", () => output.end(resolve));
  });
}

async function lastLines(file: string): Promise<string> {
  return (await readFile(file, "utf8")).trimEnd().split("\n").slice(-15).join("\n");
}

function both(a: E2eReport, b: E2eReport): E2eReport {
  return { passed: [...a.passed, ...b.passed], failed: [...a.failed, ...b.failed] };
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
