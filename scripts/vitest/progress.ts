/**
 * How far a test run is: files and tests done of their totals, a percentage and the time that is left.
 *
 * The percentage weighs each file with its duration in an earlier run, so that the estimate holds although a few files take
 * most of the time. A file without a record weighs as much as the average file; without any record all files weigh the same.
 */
export type FileRecord = { readonly ms: number; readonly tests: number };
/** Test files by their path inside the project. */
export type Records = ReadonlyMap<string, FileRecord>;

type FileProgress = { readonly weight: number; total: number | undefined; done: number; ended: boolean };

export type Progress = {
  readonly filesDone: number;
  readonly files: number;
  readonly testsDone: number;
  /** Undefined while a file that has no record has not been loaded. */
  readonly tests: number | undefined;
  readonly failed: number;
  /** From 0 to 1. */
  readonly share: number;
};

export class ProgressTracker {
  readonly #files = new Map<string, FileProgress>();
  readonly #records: Records;
  #failed = 0;

  constructor(files: readonly string[], records: Records) {
    this.#records = records;
    const known = files.flatMap((file) => records.get(file)?.ms ?? []);
    const average = known.length === 0 ? 1 : known.reduce((sum, ms) => sum + ms, 0) / known.length;
    for (const file of files) {
      const weight = Math.max(1, records.get(file)?.ms ?? average);
      this.#files.set(file, { weight, total: records.get(file)?.tests, done: 0, ended: false });
    }
  }

  /** A file was loaded: the number of its tests is known. */
  fileLoaded(file: string, tests: number): void {
    const progress = this.#files.get(file);
    if (progress !== undefined) progress.total = tests;
  }

  testEnded(file: string, failed: boolean): void {
    const progress = this.#files.get(file);
    if (progress !== undefined) progress.done += 1;
    if (failed) this.#failed += 1;
  }

  /** `failed`: the file failed although none of its tests did. */
  fileEnded(file: string, failed: boolean): void {
    const progress = this.#files.get(file);
    if (progress !== undefined) progress.ended = true;
    if (failed) this.#failed += 1;
  }

  now(): Progress {
    const files = [...this.#files.values()];
    const weight = files.reduce((sum, file) => sum + file.weight, 0);
    const done = files.reduce((sum, file) => sum + file.weight * shareOf(file), 0);
    const totals = files.map((file) => (file.ended ? file.done : file.total));
    return {
      filesDone: files.filter((file) => file.ended).length,
      files: files.length,
      testsDone: files.reduce((sum, file) => sum + file.done, 0),
      tests: totals.reduce<number | undefined>((sum, total) => (sum === undefined || total === undefined ? undefined : sum + total), 0),
      failed: this.#failed,
      share: weight === 0 ? 1 : done / weight,
    };
  }

  /** The time of an earlier run of the same files in that many workers; undefined without a record of any file. */
  expectedMs(workers: number): number | undefined {
    if (![...this.#files.keys()].some((file) => this.#records.has(file))) return undefined;
    return [...this.#files.values()].reduce((sum, file) => sum + file.weight, 0) / Math.max(1, workers);
  }
}

function shareOf({ ended, done, total }: FileProgress): number {
  if (ended) return 1;
  return total === undefined || total === 0 ? 0 : Math.min(done / total, 1);
}

/** Below this share the pace of this run says less than the record of an earlier one. */
const ENOUGH = 0.05;

export type Pace = { readonly elapsedMs: number; readonly expectedMs: number | undefined };

export function remainingMs(share: number, { elapsedMs, expectedMs }: Pace): number | undefined {
  if (share >= ENOUGH || (expectedMs === undefined && share > 0)) return (elapsedMs * (1 - share)) / share;
  return expectedMs === undefined ? undefined : expectedMs * (1 - share);
}

export function formatProgress(progress: Progress, pace: Pace): string {
  const tests = progress.tests === undefined ? count(progress.testsDone) : `${count(progress.testsDone)} of ${count(progress.tests)}`;
  const left = remainingMs(progress.share, pace);
  return [
    `${String(Math.floor(progress.share * 100)).padStart(3)} %`,
    `${progress.filesDone} of ${progress.files} files, ${tests} tests, ${progress.failed} failed`,
    `${formatTime(pace.elapsedMs)} elapsed${left === undefined ? "" : `, about ${formatTime(left)} left`}`,
  ].join("  ");
}

function count(value: number): string {
  return value.toLocaleString("en-US");
}

export function formatTime(ms: number): string {
  const seconds = Math.round(ms / 1_000);
  return seconds < 60 ? `${seconds} s` : `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
}
