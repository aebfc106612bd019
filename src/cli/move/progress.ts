/** Progress of a move on stderr: one bar on a terminal, one line for each step elsewhere. */
import type { MoveProgress } from "#pivot";
import type { CommandIo } from "../io.ts";

const TEXTS: Readonly<Record<MoveProgress["step"], string>> = {
  "write-intent": "checking the plan",
  discard: "deleting a journal that was written too late",
  register: "registering at the target",
  pause: "pausing the source",
  wait: "waiting",
  transfer: "copying",
  verify: "comparing both sides",
  read: "reading",
  "announce-commit": "announcing the commit",
  commit: "committing",
  "note-commit": "the target owns the clusters",
  "resume-target": "unpausing the target",
  "delete-source": "deleting at the source",
  finish: "finishing",
  revoke: "revoking the move at the target",
  "delete-copies": "deleting the copies at the target",
  "resume-source": "unpausing the source",
  forget: "deleting the journal",
  done: "done",
  "open-folder": "opening the directory",
  "record-folder": "recording the directory at the source",
  "write-files": "writing files",
  "complete-folder": "completing the directory",
  "accept-receipt": "accepting the receipt",
  "revoke-folder": "revoking the directory",
  "check-target": "checking the target",
  claim: "claiming the files for this cluster",
};
const BAR = 24;

export type ShownProgress = {
  readonly report: (progress: MoveProgress) => void;
  readonly note: (text: string) => void;
  /** Before other output. */
  readonly end: () => void;
};

export function showProgress(io: CommandIo, { quiet }: { readonly quiet: boolean }): ShownProgress {
  const began = io.clock.monotonic();
  const seconds = () => `${((io.clock.monotonic() - began) / 1_000).toFixed(1)}s`.padStart(7);
  let last = "";
  let isOpen = false;
  const write = (text: string) => {
    if (quiet || text === last) return;
    last = text;
    isOpen = io.terminal !== undefined;
    if (isOpen) io.redraw(`${seconds()}  ${text}`);
    else io.stderr(`${seconds()}  ${text}\n`);
  };
  return {
    report: (progress) => write(textOf(progress, io.terminal !== undefined)),
    note: write,
    end: () => {
      if (isOpen) io.stderr("\n");
    },
  };
}

/** Of one report, as a line. */
export function moveText(progress: MoveProgress): string {
  return textOf(progress, false);
}

function textOf({ step, done, total, note }: MoveProgress, hasBar: boolean): string {
  const what = TEXTS[step];
  if (note !== undefined) return `${what}: ${note}`;
  if (done === undefined || total === undefined || total === 0) return what;
  const filled = Math.floor((done / total) * BAR);
  const bar = hasBar ? `[${"#".repeat(filled)}${".".repeat(BAR - filled)}] ` : "";
  return `${what} ${bar}${done} of ${total} objects`;
}
