/**
 * Ends the process when its event loop is blocked, and prints which requests were in progress. A timer of the blocked thread could not do that.
 *
 * It runs in a worker thread and reads the requests from shared memory.
 */
import { Worker } from "node:worker_threads";

export type Watchdog = {
  /** Records that a lane starts a request. */
  readonly begin: (lane: number, chapter: number, number: number) => void;
  readonly close: () => Promise<void>;
};

const LOOK_MS = 5_000;

const WATCH = `
const { workerData: { shared, lookMs, quietMs } } = require("node:worker_threads");
const { writeSync } = require("node:fs");
const slots = new Int32Array(shared);
let [beats, quiet] = [-1, 0];
setInterval(() => {
  quiet = slots[0] === beats ? quiet + lookMs : 0;
  beats = slots[0];
  if (quiet < quietMs) return;
  const lanes = [];
  for (let at = 1; at < slots.length; at += 2) lanes.push("chapter " + slots[at] + ", number " + slots[at + 1]);
  writeSync(2, "the event loop has been blocked for " + quiet + " ms, with these requests in progress:\\n" + lanes.join("\\n") + "\\n");
  process.kill(process.pid, "SIGKILL");
}, lookMs);
`;

export function startWatchdog(lanes: number, quietMs: number): Watchdog {
  const shared = new SharedArrayBuffer(4 * (1 + 2 * lanes));
  const slots = new Int32Array(shared);
  const worker = new Worker(WATCH, { eval: true, workerData: { shared, lookMs: LOOK_MS, quietMs } });
  worker.unref();
  const beating = setInterval(() => (slots[0] = (slots[0] ?? 0) + 1), LOOK_MS / 5);
  return {
    begin: (lane, chapter, number) => {
      slots[1 + 2 * lane] = chapter;
      slots[2 + 2 * lane] = number;
    },
    close: async () => {
      clearInterval(beating);
      await worker.terminate();
    },
  };
}
