/**
 * One process per folder. The lock names its holder; a lock whose holder is dead is taken over.
 *
 * A lock appears by `link`, so it is never seen empty, and a dead one is moved away before a new one is made: of two processes
 * that find it at the same time, one moves it and the other finds a lock that it did not expect, and gives way. It guards
 * against processes of this machine; a folder that two machines share is not guarded.
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
  /** The dead process that held it before. */
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
    if (readLock(files, path) === text) attempt("", () => files.rmSync(path)); // a lock that stays is taken over: its holder is dead then
  };
  const taken = takeLock(request, draft);
  attempt("", () => files.rmSync(draft)); // a draft that stays does no harm
  return taken.ok ? ok({ takenOverFrom: taken.value, release }) : taken;
}

function takeLock({ files, folder, processes }: LockRequest, draft: string): Result<number | undefined, StoreOpenError> {
  const path = lockPath(folder);
  const link = () => attempt(`cannot lock ${folder}`, () => files.linkSync(draft, path));
  const first = link();
  if (first.ok) return ok(undefined);
  const text = readLock(files, path);
  if (text === undefined) return first; // not because there is one, then
  const holder = parseHolder(text);
  if (holder !== undefined && processes.identify(holder.pid) === holder.process) return locked(path, holder);
  const aside = `${draft}-dead`;
  const moved = attempt(`cannot take over ${path}`, () => files.renameSync(path, aside));
  const found = readLock(files, aside);
  if (!moved.ok || found !== text) {
    attempt("", () => files.linkSync(aside, path)); // it is another's lock: back with it, if they have not made a new one
    return locked(path, parseHolder(found ?? "") ?? { pid: 0, since: "just now" });
  }
  attempt("", () => files.rmSync(aside)); // does no harm if it stays
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
