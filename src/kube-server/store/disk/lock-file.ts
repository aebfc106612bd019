/**
 * One process per folder. The lock names its holder; the lock of a terminated process is taken over.
 *
 * A lock is created with `link`, so it is never empty, and a stale lock is renamed before a new one is created: of two processes that find it
 * at the same time, one renames it and the other finds an unexpected lock and fails. It protects against processes of this machine, not
 * against other machines that share the folder.
 */
import { err, fromThrowing, ok, timestamp, type Clock, type ProcessTable, type Result } from "#base";
import { field, parseJson } from "#kube";
import { lockPath } from "./data-folder.ts";
import type { StoreOpenError } from "./open-error.ts";
import { attempt, FILE_MODE, type StoreFiles } from "./store-files.ts";

export type LockRequest = {
  readonly files: StoreFiles;
  readonly folder: string;
  readonly clock: Clock;
  readonly processes: ProcessTable;
};

export type Lock = {
  /** The terminated process that held it before. */
  readonly takenOverFrom: number | undefined;
  readonly release: () => void;
};

type Holder = { readonly pid: number; readonly process: string; readonly since: string };

export function acquireLock(request: LockRequest): Result<Lock, StoreOpenError> {
  const { files, folder, clock, processes } = request;
  const path = lockPath(folder);
  const own: Holder = { pid: processes.pid, process: processes.identify(processes.pid) ?? "", since: timestamp(clock) };
  const text = `${JSON.stringify(own)}\n`;
  const draft = `${path}-${own.pid}`;
  const written = attempt(`cannot lock ${folder}`, () => files.writeFileSync(draft, text, { mode: FILE_MODE }));
  if (!written.ok) return written;
  const release = () => {
    if (readLock(files, path) === text) attempt("", () => files.rmSync(path)); // a remaining lock is taken over later, because its holder has terminated
  };
  const taken = takeLock(request, draft);
  attempt("", () => files.rmSync(draft)); // a remaining draft is harmless
  return taken.ok ? ok({ takenOverFrom: taken.value, release }) : taken;
}

function takeLock({ files, folder, processes }: LockRequest, draft: string): Result<number | undefined, StoreOpenError> {
  const path = lockPath(folder);
  const link = () => attempt(`cannot lock ${folder}`, () => files.linkSync(draft, path));
  const first = link();
  if (first.ok) return ok(undefined);
  const text = readLock(files, path);
  if (text === undefined) return first; // the failure has another reason than an existing lock
  const holder = parseHolder(text);
  if (holder !== undefined && processes.identify(holder.pid) === holder.process) return locked(path, holder);
  const aside = `${draft}-dead`;
  const moved = attempt(`cannot take over ${path}`, () => files.renameSync(path, aside));
  const found = readLock(files, aside);
  if (!moved.ok || found !== text) {
    attempt("", () => files.linkSync(aside, path)); // the lock of another process: restored, unless there is a new one
    return locked(path, parseHolder(found ?? "") ?? { pid: 0, since: "just now" });
  }
  attempt("", () => files.rmSync(aside)); // harmless if it remains
  const second = link();
  return second.ok ? ok(holder?.pid) : second;
}

function locked(file: string, { pid, since }: Pick<Holder, "pid" | "since">): Result<never, StoreOpenError> {
  return err({ kind: "locked", file, pid, since });
}

function readLock(files: StoreFiles, path: string): string | undefined {
  const text = fromThrowing(
    () => files.readFileSync(path, "utf8"),
    () => undefined,
  );
  return text.ok ? text.value : undefined;
}

function parseHolder(text: string): Holder | undefined {
  const parsed = parseJson(text);
  if (!parsed.ok) return undefined;
  const [pid, process, since] = [field(parsed.value, "pid"), field(parsed.value, "process"), field(parsed.value, "since")];
  if (typeof pid !== "number" || typeof process !== "string" || typeof since !== "string") return undefined;
  return { pid, process, since };
}
