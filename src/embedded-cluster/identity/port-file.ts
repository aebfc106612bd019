/**
 * The port of a cluster in the data folder, and the ports to try when it has none or when its port is in use.
 *
 * A first port is below the ranges from which operating systems take ports for outgoing connections (from 32768 on Linux): while the server
 * is stopped, a connection of any process could occupy such a port, even one of a client that retries to connect to the server.
 */
import { randomInt } from "node:crypto";
import { andThen, err, ok, type Result } from "#base";
import { IDENTITY_FILES, identityFile } from "./identity-file.ts";

const PORT = /^[1-9][0-9]{0,4}\n?$/;
const MAX_PORT = 65_535;
const FIRST_PORTS = { from: 20_000, end: 30_000 } as const;
const ATTEMPTS = 100;
const ANY_FREE_PORT = 0;

/** Undefined: no port has been used yet. */
export function readPort(folder: string): Result<number | undefined, string> {
  const file = identityFile(folder, IDENTITY_FILES.port);
  return andThen(file.read(), (text) => {
    if (text === undefined) return ok(undefined);
    const port = PORT.test(text) ? Number(text) : Number.NaN;
    if (port <= MAX_PORT) return ok(port);
    return err(`${file.path}: must be a port from 1 to ${MAX_PORT}; write the port into it, or delete it to listen on another one`);
  });
}

export function writePort(folder: string, port: number): Result<void, string> {
  return identityFile(folder, IDENTITY_FILES.port).write(`${port}\n`);
}

/** Not from the cluster's own random numbers: clusters with one seed would all try the same ports. */
export function* firstPorts(): Generator<number, void> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) yield randomInt(FIRST_PORTS.from, FIRST_PORTS.end);
  yield ANY_FREE_PORT;
}

export function* portsAfter(port: number): Generator<number, void> {
  for (let next = port + 1; next <= Math.min(port + ATTEMPTS, MAX_PORT); next += 1) yield next;
  yield ANY_FREE_PORT;
}
