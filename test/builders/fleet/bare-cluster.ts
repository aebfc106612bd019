/**
 * A supervisor as a process of its own, with one cluster that has nothing but an API server and local machines: `node bare-cluster.ts FOLDER PROGRAM NAME`. It prints one
 * line, the path of the kubeconfig, when the cluster runs. SIGUSR2 ends the cluster alone: clusters that were made from it run on. SIGTERM ends all.
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createLogger, expectOk, systemClock } from "#base";
import { controlSocketPath, fleetFolder, openControlSocket, startFleet } from "#fleet";

const [path = "", program = "", name = ""] = process.argv.slice(2);
const stop = new AbortController();
process.once("SIGTERM", () => stop.abort());

const folder = fleetFolder(path);
const own = join(folder.clusters, name);
mkdirSync(own, { recursive: true, mode: 0o700 });
writeFileSync(join(own, "cluster.json"), JSON.stringify({ bare: true, version: "v1.36.3" }), { mode: 0o600 });
const socket = expectOk(controlSocketPath(folder, { temporary: tmpdir(), userId: process.getuid?.() }));
const fleet = expectOk(
  await startFleet({
    folder,
    program: { node: process.execPath, args: [program] },
    clusters: [{ name }],
    repair: false,
    socket,
    clock: systemClock,
    random: Math.random,
    logger: createLogger((level, message, fields) => process.stderr.write(`${level} ${message} ${JSON.stringify(fields)}\n`)),
    env: process.env,
    signal: stop.signal,
    onProcesses() {},
  }),
);
const control = expectOk(await openControlSocket({ path: socket, fleet, clock: systemClock }));
process.stdout.write(`${expectOk(await fleet.untilRunning(name, stop.signal)).kubeconfig}\n`);
process.once("SIGUSR2", () => void fleet.stop(name));
await new Promise((resolve) => stop.signal.addEventListener("abort", resolve, { once: true }));
await control.close();
await fleet.close();
