/** Progress of an installation on stderr, a line for each change: steps, and what is waited for. */
import type { InstallProgress } from "#install";
import type { MoveProgress } from "#pivot";
import type { CommandIo } from "../io.ts";
import { moveText } from "../move/progress.ts";

const STEPS: Readonly<Record<Extract<InstallProgress, { kind: "step" }>["step"], string>> = {
  "create-bootstrap": "a bootstrap cluster is prepared",
  "make-cell": "the bootstrap cluster becomes a cell",
  "apply-cluster": "the bootstrap cluster creates the management cluster",
  "apply-changes": "the changed file is applied in the bootstrap cluster",
  detach: "the management cluster owns itself, and forgets its parent",
  "release-bootstrap": "the bootstrap cluster forgets the management cluster",
  "remove-bootstrap": "the bootstrap cluster is cleaned up",
  "move-back": "the Cluster API objects are moved to the bootstrap cluster",
  "delete-cluster": "the machines of the management cluster are deleted",
  done: "done",
};

export function stepText(step: keyof typeof STEPS): string {
  return STEPS[step];
}

export type ShownInstall = {
  readonly report: (progress: InstallProgress) => void;
  /** Of the move that is a step of a removal. */
  readonly onMove: (progress: MoveProgress) => void;
};

export function installProgress(io: CommandIo): ShownInstall {
  const began = io.clock.monotonic();
  let last = "";
  const write = (text: string) => {
    if (text === last) return;
    last = text;
    const seconds = `${((io.clock.monotonic() - began) / 1_000).toFixed(1)}s`.padStart(7);
    io.stderr(`${seconds}  ${text}\n`);
  };
  return { report: (progress) => write(textOf(progress)), onMove: (progress) => write(`  ${moveText(progress)}`) };
}

function textOf(progress: InstallProgress): string {
  switch (progress.kind) {
    case "step":
      return progress.detail === undefined ? STEPS[progress.step] : `${STEPS[progress.step]}: ${progress.detail}`;
    case "note":
    case "wait":
      return progress.text;
    case "failed":
      return `${STEPS[progress.step]}: ${progress.message}; it is tried again`;
  }
}
