/**
 * The real mover on two model servers: crashes, lost, repeated and late requests, slow servers, partitions, restarts, a person who edits, pauses,
 * unpauses and deletes, a clock that jumps, a second process. After every write the invariants are checked.
 */
import { expect, test } from "vitest";
import { explore } from "../../../test/builders/move-model/play-model.ts";
import { roundsOf } from "../../../test/builders/rounds.ts";
import { abortNamespaceMove, moveNamespace } from "./move-namespace.ts";

const REQUESTS = roundsOf({ sample: 100_000, long: 3_000_000 });
const SEED = Number(process.env["LATTICE_SEED"] ?? 1);

test(`${REQUESTS} requests with faults: one owner at all times, and every move can be ended`, { timeout: 3_600_000 }, async () => {
  const found = await explore({ moveNamespace, abortNamespaceMove }, { seed: SEED, requests: REQUESTS });
  expect(found.failure?.text).toBeUndefined();
  expect(found.commits).toBeGreaterThan(REQUESTS / 1_000);
});
