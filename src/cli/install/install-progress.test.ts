import { expect, test } from "vitest";
import { FakeClock } from "#base";
import type { CommandIo } from "../io.ts";
import { installProgress } from "./install-progress.ts";

test("a file that was changed is shown with what is applied of it, and what is not", () => {
  const lines: string[] = [];
  const { report } = installProgress({ clock: new FakeClock(), stderr: (text: string) => void lines.push(text) } as unknown as CommandIo);
  report({ kind: "step", step: "apply-changes", detail: "spec.nodes.workers: 1 -> 3" });
  report({ kind: "note", text: "Secret a/b was changed" });
  expect(lines).toEqual([
    "   0.0s  the changed file is applied in the bootstrap cluster: spec.nodes.workers: 1 -> 3\n",
    "   0.0s  Secret a/b was changed\n",
  ]);
});

test("a removal shows its steps, and the counts of its move, each once", () => {
  const lines: string[] = [];
  const { report, onMove } = installProgress({
    clock: new FakeClock(),
    stderr: (text: string) => void lines.push(text),
  } as unknown as CommandIo);
  report({ kind: "step", step: "move-back" });
  onMove({ step: "transfer", done: 5, total: 19 });
  onMove({ step: "transfer", done: 5, total: 19 });
  onMove({ step: "transfer", done: 19, total: 19 });
  report({ kind: "step", step: "delete-cluster" });
  expect(lines).toEqual([
    "   0.0s  the Cluster API objects are moved to the bootstrap cluster\n",
    "   0.0s    copying 5 of 19 objects\n",
    "   0.0s    copying 19 of 19 objects\n",
    "   0.0s  the machines of the management cluster are deleted\n",
  ]);
});
