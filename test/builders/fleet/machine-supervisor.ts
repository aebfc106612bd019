/**
 * A supervisor as a process of its own, which a story kills: `node machine-supervisor.ts FOLDER PROGRAM`. Lines of JSON on standard input are
 * messages as if the API server of cluster mgmt had sent them; it prints the messages about machines that this API server gets.
 */
import { tmpdir } from "node:os";
import { createInterface } from "node:readline";
import { createLogger, expectOk, nodeProcesses, systemClock } from "#base";
import { controlSocketPath, openControlSocket, openFleetFolder } from "#fleet";
import { spawnNodeProcess, type ProcessHandlers, type SpawnProcess } from "../../../src/fleet/processes/spawn.ts";
import { openFleet } from "../../../src/fleet/supervisor/start-fleet.ts";

const [path = "", program = ""] = process.argv.slice(2);
const stop = new AbortController();
process.once("SIGTERM", () => stop.abort());

let management: ProcessHandlers | undefined;
const early: unknown[] = [];
const spawn: SpawnProcess = (spec, handlers) => {
  const started = spawnNodeProcess(spec, handlers);
  if (!started.ok || !spec.args.includes("__fleet-api-server") || spec.args.at(-1) !== "mgmt") return started;
  const send = (message: unknown) => {
    process.stdout.write(`${JSON.stringify(message)}\n`);
    return started.value.send(message);
  };
  management = handlers;
  for (const message of early.splice(0)) handlers.onMessage(message);
  return { ok: true, value: { ...started.value, send } };
};

const opened = expectOk(
  await openFleetFolder({ path, cluster: "mgmt", empty: true, clock: systemClock, signal: stop.signal, processes: nodeProcesses }),
);
const socket = expectOk(controlSocketPath(opened.folder, { temporary: tmpdir(), userId: process.getuid?.() }));
const fleet = expectOk(
  openFleet(
    {
      folder: opened.folder,
      program: { node: process.execPath, args: [program] },
      clusters: [{ name: "mgmt" }],
      repair: false,
      clock: systemClock,
      random: Math.random,
      logger: createLogger((level, message, fields) => process.stderr.write(`${level} ${message} ${JSON.stringify(fields)}\n`)),
      env: process.env,
      signal: stop.signal,
      socket,
      onProcesses: (processes) => void opened.record({ socket, processes }),
    },
    spawn,
  ),
);
const control = expectOk(await openControlSocket({ path: socket, fleet, clock: systemClock }));
createInterface({ input: process.stdin }).on("line", (line) => {
  const message: unknown = JSON.parse(line);
  if (management === undefined) early.push(message);
  else management.onMessage(message);
});
await new Promise((resolve) => stop.signal.addEventListener("abort", resolve, { once: true }));
await control.close();
await fleet.close();
opened.close();
process.exit();
