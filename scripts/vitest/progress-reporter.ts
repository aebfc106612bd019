/**
 * A vitest reporter for whole lanes: how far the run is, each failure at once, and vitest's own summary at the end.
 *
 * On a terminal one line is rewritten; elsewhere a plain line is added from time to time. Passed files are not listed, and
 * what a passed test printed is left out. The default export is how vitest finds a reporter.
 */
import { join, relative } from "node:path";
import { MinimalReporter, type Reporter, type TestCase, type TestModule, type TestRunEndReason, type Vitest } from "vitest/node";
import { formatProgress, ProgressTracker, type FileRecord } from "./progress.ts";
import { readRecords, writeRecords } from "./records.ts";

const PLAIN_EVERY_MS = 15_000;
const TERMINAL_EVERY_MS = 250;
const CLEAR_LINE = "\r\x1b[K";

export default class ProgressReporter extends MinimalReporter implements Reporter {
  readonly #terminal = process.stdout.isTTY && process.env["NO_COLOR"] === undefined;
  readonly #ended = new Map<string, FileRecord>();
  #tracker = new ProgressTracker([], new Map());
  #workers = 1;
  #records = "";
  #started = 0;
  #timer: NodeJS.Timeout | undefined;

  override onInit(vitest: Vitest): void {
    super.onInit(vitest);
    this.#workers = vitest.config.maxWorkers;
    this.#records = recordsFile(vitest);
  }

  override onTestRunStart(specifications: Parameters<MinimalReporter["onTestRunStart"]>[0]): void {
    super.onTestRunStart(specifications);
    this.#tracker = new ProgressTracker(
      specifications.map(({ moduleId }) => this.relative(moduleId)),
      readRecords(this.#records),
    );
    this.#started = performance.now();
    this.#show();
    this.#timer = setInterval(() => this.#show(), this.#terminal ? TERMINAL_EVERY_MS : PLAIN_EVERY_MS).unref();
  }

  override onTestModuleCollected(module: TestModule): void {
    this.#tracker.fileLoaded(module.relativeModuleId, [...module.children.allTests()].length);
  }

  override onTestCaseResult(test: TestCase): void {
    super.onTestCaseResult(test);
    const result = test.result();
    this.#tracker.testEnded(test.module.relativeModuleId, result.state === "failed");
    if (result.state === "failed") this.#showFailure(`${test.module.relativeModuleId} > ${test.fullName}`, result.errors[0]?.message);
  }

  override onTestModuleEnd(module: TestModule): void {
    const file = module.relativeModuleId;
    const tests = [...module.children.allTests()];
    const failedOutsideTests = module.state() === "failed" && !tests.some((test) => test.result().state === "failed");
    super.onTestModuleEnd(module);
    this.#tracker.fileEnded(file, failedOutsideTests);
    if (failedOutsideTests) this.#showFailure(file, firstErrorOf(module)?.message);
    this.#ended.set(file, { ms: Math.round(durationOf(module)), tests: tests.length });
  }

  /** Failures were shown when they happened, and vitest's summary repeats them with all details. */
  override printTestModule(): void {}

  override onTestRunEnd(
    modules: readonly TestModule[],
    errors: Parameters<MinimalReporter["onTestRunEnd"]>[1],
    reason: TestRunEndReason,
  ): void {
    clearInterval(this.#timer);
    this.#show();
    if (this.#terminal) process.stdout.write("\n");
    writeRecords(this.#records, this.#ended);
    super.onTestRunEnd(modules, errors, reason);
  }

  #show(): void {
    const elapsedMs = performance.now() - this.#started;
    const line = formatProgress(this.#tracker.now(), { elapsedMs, expectedMs: this.#tracker.expectedMs(this.#workers) });
    if (this.#terminal) process.stdout.write(`${CLEAR_LINE}${line.slice(0, (process.stdout.columns || 80) - 1)}`);
    else this.log(line);
  }

  #showFailure(name: string, message: string | undefined): void {
    if (this.#terminal) process.stdout.write(CLEAR_LINE);
    this.log(`failed: ${name}: ${(message ?? "no message").split("\n", 1)[0]}`);
  }
}

/** Of the file, or of a hook of one of its suites. */
function firstErrorOf(module: TestModule): ReturnType<TestModule["errors"]>[number] | undefined {
  return [module, ...module.children.allSuites()].flatMap((entity) => entity.errors())[0];
}

function durationOf(module: TestModule): number {
  const { collectDuration, duration, setupDuration } = module.diagnostic();
  return collectDuration + duration + setupDuration;
}

/** Each lane has its own records: the same file takes longer with coverage, or under another provider of cryptography. */
function recordsFile({ config }: Vitest): string {
  const lane = relative(config.root, config.config ?? "vitest.config.ts").replaceAll(/[^a-z.-]/g, "-");
  return join(config.root, "node_modules/.cache/lattice-tests", `${lane}${config.coverage.enabled ? ".coverage" : ""}.json`);
}
