/**
 * A file that at most one process of this machine holds. It names its holder; the lock of a terminated process is taken over.
 *
 * A lock is created with `link`, so it is never empty, and a stale lock is renamed before a new one is created: of two processes that find it
 * at the same time, one renames it and the other finds an unexpected lock and fails. It protects against processes of this machine (and of
 * the same container, where process numbers are private), not against other machines that share the folder.
 */
import * as fs from "node:fs";
import { timestamp, type Clock } from "./clock.ts";
import type { ProcessTable } from "./process-table.ts";
import { describeThrown, err, fromThrowing, ok, type Result } from "./result.ts";

export type LockFiles = Pick<typeof fs, "linkSync" | "readFileSync" | "renameSync" | "rmSync" | "writeFileSync">;

export type LockRequest = {
  /** Of the lock itself, beside which drafts are written. */
  readonly path: string;
  readonly clock: Clock;
  readonly processes: ProcessTable;
  /** Default: node:fs. */
  readonly files?: LockFiles | undefined;
};

export type ProcessLock = {
  /** The terminated process that held it before. */
  readonly takenOverFrom: number | undefined;
  readonly release: () => void;
};

export type LockError =
  | { readonly kind: "locked"; readonly pid: number; readonly since: string }
  /** `message`: of the operating system. */
  | { readonly kind: "not-written"; readonly message: string };

type Holder = { readonly pid: number; readonly process: string; readonly since: string };

const FILE_MODE = 0o600;

/** The lock of a folder that one process at a time may use. */
export function folderLockPath(folder: string): string {
  return `${folder}/lock`;
}

export function acquireProcessLock(request: LockRequest): Result<ProcessLock, LockError> {
  const { path, clock, processes, files = fs } = request;
  const own: Holder = { pid: processes.pid, process: processes.identify(processes.pid) ?? "", since: timestamp(clock) };
  const text = `${JSON.stringify(own)}\n`;
  const draft = `${path}-${own.pid}`;
  const written = attempt(() => files.writeFileSync(draft, text, { mode: FILE_MODE }));
  if (!written.ok) return written;
  const release = () => {
    if (readLock(files, path) === text) attempt(() => files.rmSync(path)); // a remaining lock is taken over later, because its holder has terminated
  };
  const taken = takeLock({ path, processes, files }, draft);
  attempt(() => files.rmSync(draft)); // a remaining draft is harmless
  return taken.ok ? ok({ takenOverFrom: taken.value, release }) : taken;
}

type Attempt = { readonly path: string; readonly processes: ProcessTable; readonly files: LockFiles };

function takeLock({ path, processes, files }: Attempt, draft: string): Result<number | undefined, LockError> {
  const link = () => attempt(() => files.linkSync(draft, path));
  const first = link();
  if (first.ok) return ok(undefined);
  const text = readLock(files, path);
  if (text === undefined) return first; // the failure has another reason than an existing lock
  const holder = parseHolder(text);
  if (holder !== undefined && processes.identify(holder.pid) === holder.process) return locked(holder);
  const aside = `${draft}-dead`;
  const moved = attempt(() => files.renameSync(path, aside));
  const found = readLock(files, aside);
  if (!moved.ok || found !== text) {
    attempt(() => files.linkSync(aside, path)); // the lock of another process: restored, unless there is a new one
    return locked(parseHolder(found ?? "") ?? { pid: 0, since: "just now" });
  }
  attempt(() => files.rmSync(aside)); // harmless if it remains
  const second = link();
  return second.ok ? ok(holder?.pid) : second;
}

function attempt<T>(run: () => T): Result<T, LockError> {
  return fromThrowing(run, (thrown) => ({ kind: "not-written", message: describeThrown(thrown) }));
}

function locked({ pid, since }: Pick<Holder, "pid" | "since">): Result<never, LockError> {
  return err({ kind: "locked", pid, since });
}

function readLock(files: LockFiles, path: string): string | undefined {
  const text = fromThrowing(
    () => files.readFileSync(path, "utf8"),
    () => undefined,
  );
  return text.ok ? text.value : undefined;
}

function parseHolder(text: string): Holder | undefined {
  const parsed = fromThrowing(
    () => JSON.parse(text) as unknown,
    () => undefined,
  );
  if (!parsed.ok || typeof parsed.value !== "object" || parsed.value === null) return undefined;
  const { pid, process, since } = parsed.value as Readonly<Record<string, unknown>>;
  if (!Number.isSafeInteger(pid) || typeof process !== "string" || typeof since !== "string") return undefined;
  return { pid: Number(pid), process, since };
}
