/**
 * The crash matrix of install and uninstall: the command is killed before and after every write, and the same command finishes. A seeded tenth of it here,
 * all of it in `npm run test:long`; LATTICE_CRASH_POINT="install: killed after 3" runs one point.
 */
import { expect, test } from "vitest";
import { chosenPoints } from "../../test/builders/crash-points.ts";
import type { Kill } from "../../test/builders/mortal-process.ts";
import { runKilled, type InstallMatrix } from "./install-crashes.test-support.ts";

const SEED = 16;

const MATRICES: readonly (InstallMatrix & { readonly name: string })[] = [
  { name: "install", command: "install", atEnd: "removed" },
  { name: "install with another file after the crash", command: "install", atEnd: "removed", changesFile: true },
  { name: "install from a cluster that stays", command: "install", atEnd: "kept" },
  { name: "install from a cluster that is prepared and cleaned", command: "install", atEnd: "cleaned" },
  { name: "uninstall", command: "uninstall", atEnd: "removed" },
  { name: "uninstall to a cluster that stays", command: "uninstall", atEnd: "kept" },
  { name: "uninstall to a cluster that is prepared and cleaned", command: "uninstall", atEnd: "cleaned" },
];

/** The commit of the move back, and the writes beside it. */
const COMMIT = [53, 54, 55, 56];

test("uninstall: killed at the commit of the move back, it deletes no Cluster that is still paused", { timeout: 120_000 }, async () => {
  for (const write of COMMIT) {
    const { wrong } = await runKilled({ command: "uninstall", atEnd: "removed" }, { write, when: "after" });
    expect([write, ...wrong]).toEqual([write]);
  }
});

test.each(MATRICES)("$name: killed at any write, the same command finishes", { timeout: 3_600_000 }, async ({ name, ...matrix }) => {
  const whole = await runKilled(matrix, undefined);
  expect(whole.wrong).toEqual([]);
  const points = Array.from({ length: whole.writes }, (_, at) =>
    (["before", "after"] as const).map((when) => ({ write: at + 1, when })),
  ).flat();
  const describe = ({ write, when }: Kill) => `${name}: killed ${when} ${write}`;
  const chosen = chosenPoints(points, describe, SEED);
  for (const kill of chosen) {
    const { wrong } = await runKilled(matrix, kill, { machineDeletion: kill.when === "before" ? "at once" : "once observed twice" });
    expect(wrong, `replay with LATTICE_CRASH_POINT="${describe(kill)}"`).toEqual([]);
  }
});
