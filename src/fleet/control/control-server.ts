/**
 * The control socket of a running fleet: `lattice stop`, `lattice start` and the tools of machines connect to it. Only the same user can: the socket has mode 0600.
 */
import { chmodSync, rmSync } from "node:fs";
import { createServer, type Server, type Socket } from "node:net";
import { describeThrown, err, fromPromise, fromThrowing, ok, type Clock, type Result } from "#base";
import type { ControlRequest, ControlResponse, Fleet } from "../fleet-types.ts";
import { MAX_REQUEST_BYTES, parseControlRequest } from "./control-protocol.ts";
import { readLine } from "./read-line.ts";

export type ControlSocket = { readonly path: string; readonly close: () => Promise<void> };

export type ControlSocketOptions = {
  readonly path: string;
  readonly fleet: Pick<Fleet, "clusters" | "start" | "stop" | "machine">;
  readonly clock: Clock;
};

/** Machines wait on theirs until an API server runs. */
const MAX_CONNECTIONS = 256;
const REQUEST_WITHIN_MS = 5_000;

/** The caller holds the lock of the folder, so that a socket that exists is one of an ended process. */
export async function openControlSocket({ path, fleet, clock }: ControlSocketOptions): Promise<Result<ControlSocket, string>> {
  const sockets = new Set<Socket>();
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    sockets.add(socket);
    socket.on("error", () => {}).once("close", () => sockets.delete(socket));
    void serve(socket, fleet, clock);
  });
  server.maxConnections = MAX_CONNECTIONS;
  fromThrowing(() => rmSync(path, { force: true }), describeThrown);
  const listening = await fromPromise(listenPrivately(server, path), describeThrown);
  if (!listening.ok) return err(`the control socket ${path} cannot be opened: ${listening.error}`);
  const close = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve());
      for (const socket of sockets) socket.destroy();
    });
  return ok({ path, close });
}

/** The folder is private too: between the bind and the chmod no other user can connect. */
function listenPrivately(server: Server, path: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(path, () => {
      server.off("error", reject).on("error", () => {});
      const restricted = fromThrowing(() => chmodSync(path, 0o600), describeThrown);
      if (restricted.ok) resolve();
      else server.close(() => reject(new Error(restricted.error)));
    });
  });
}

async function serve(socket: Socket, fleet: ControlSocketOptions["fleet"], clock: Clock): Promise<void> {
  const cancel = clock.after(REQUEST_WITHIN_MS, () => socket.destroy());
  const line = await readLine(socket, MAX_REQUEST_BYTES);
  cancel();
  const request = line.ok ? parseControlRequest(line.value) : line;
  const response: ControlResponse = request.ok ? await answer(request.value, fleet) : { ok: false, error: request.error };
  socket.end(`${JSON.stringify(response)}\n`);
  socket.resume(); // what is sent after the first line is ignored
}

async function answer(request: ControlRequest, fleet: ControlSocketOptions["fleet"]): Promise<ControlResponse> {
  if (request.command === "list") return { ok: true, clusters: fleet.clusters() };
  if ("token" in request) {
    const machine = await fleet.machine(request);
    return machine.ok ? { ok: true, machine: machine.value } : { ok: false, error: machine.error };
  }
  const done = await (request.command === "stop" ? fleet.stop(request.name) : fleet.start(request.name));
  return done.ok ? { ok: true, message: done.value } : { ok: false, error: done.error };
}
