/**
 * A supervisor as a process of its own, which a story kills: `node fleet-supervisor.ts FOLDER PROGRAM NAME...`. It prints one line of JSON, the
 * clusters, when all of them run and their operators are ready.
 */
import { createLogger, expectOk, systemClock } from "#base";
import { fleetFolder, startFleet } from "#fleet";

const [folder = "", program = "", ...names] = process.argv.slice(2);
const stop = new AbortController();
process.once("SIGTERM", () => stop.abort());

const fleet = expectOk(
  await startFleet({
    folder: fleetFolder(folder),
    program: { node: process.execPath, args: [program] },
    clusters: names.map((name) => ({ name })),
    repair: false,
    clock: systemClock,
    random: Math.random,
    logger: createLogger((level, message, fields) => process.stderr.write(`${level} ${message} ${JSON.stringify(fields)}\n`)),
    env: process.env,
    signal: stop.signal,
    onProcesses() {},
  }),
);
const isReady = () => fleet.clusters().every(({ state, operators }) => state === "Running" && operators.some(({ ready }) => ready));
await new Promise<void>((resolve) => {
  const end = fleet.subscribe(() => {
    if (!isReady()) return;
    end();
    resolve();
  });
});
process.stdout.write(`${JSON.stringify(fleet.clusters())}\n`);
await new Promise((resolve) => stop.signal.addEventListener("abort", resolve, { once: true }));
await fleet.close();
