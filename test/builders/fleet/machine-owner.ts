/**
 * `node machine-owner.ts up FOLDER`: a supervisor whose cluster mgmt has no API server; a story takes its place. Other arguments are those of
 * Lattice. The supervisor starts this file for all of its processes: for mgmt, it passes the messages of the supervisor to the socket of the
 * story (LATTICE_STORY_SOCKET) and back, in lines of JSON.
 */
import { writeFileSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { createLogger, expectOk, nodeProcesses, systemClock } from "#base";
import { controlSocketPath, openControlSocket, openFleetFolder, startFleet } from "#fleet";
import { PROGRAM } from "../program.ts";

const [command = "", ...args] = process.argv.slice(2);
if (command === "up") await supervise(args[0] ?? "");
else if (command === "__fleet-api-server" && args.at(-1) === "mgmt") relay(args[args.indexOf("--folder") + 1] ?? "");
else await import(PROGRAM);

function relay(folder: string): void {
  const socket = connect(process.env["LATTICE_STORY_SOCKET"] ?? "");
  const end = () => process.exit();
  socket.on("error", end).on("close", end);
  process.on("disconnect", end).on("SIGTERM", end);
  process.on("message", (message) => socket.write(`${JSON.stringify(message)}\n`));
  createInterface({ input: socket }).on("line", (line) => process.send?.(JSON.parse(line)));
  writeFileSync(join(folder, "kubeconfig"), "");
  process.send?.({ kind: "ready", url: "https://127.0.0.1:1" });
}

async function supervise(path: string): Promise<void> {
  const stop = new AbortController();
  process.once("SIGTERM", () => stop.abort());
  const ports = { clock: systemClock, signal: stop.signal, processes: nodeProcesses };
  const opened = expectOk(await openFleetFolder({ path, cluster: "mgmt", content: "empty", ...ports }));
  const socket = expectOk(controlSocketPath(opened.folder, { temporary: tmpdir(), userId: process.getuid?.() }));
  const fleet = expectOk(
    await startFleet({
      folder: opened.folder,
      program: { node: process.execPath, args: [import.meta.filename] },
      clusters: [{ name: "mgmt" }],
      repair: false,
      clock: systemClock,
      random: Math.random,
      logger: createLogger((level, message, fields) => process.stderr.write(`${level} ${message} ${JSON.stringify(fields)}\n`)),
      env: process.env,
      signal: stop.signal,
      socket,
      onProcesses: (processes) => void opened.record({ socket, processes }),
    }),
  );
  const control = expectOk(await openControlSocket({ path: socket, fleet, clock: systemClock }));
  await new Promise((resolve) => stop.signal.addEventListener("abort", resolve, { once: true }));
  await control.close();
  await fleet.close();
  opened.close();
  process.exit();
}
