/**
 * Loopback ports without a listener.
 *
 * They are below the range for outgoing connections (32768 and up on Linux, 49152 and up elsewhere): any connection can take a
 * port from that range while a server restarts. Another program can still take a port before it is used; the caller then
 * retries with other ports.
 */
import { randomInt } from "node:crypto";
import { createServer } from "node:net";
import { err, ok, type Result } from "#base";

const LOWEST = 15_000;
const HIGHEST = 32_000;
const TRIES = 200;

export async function findFreePorts(count: number): Promise<Result<readonly number[], string>> {
  const found = new Set<number>();
  for (let tries = 0; found.size < count; tries++) {
    if (tries >= TRIES) return err(`no ${count} free ports between ${LOWEST} and ${HIGHEST} on 127.0.0.1`);
    const port = randomInt(LOWEST, HIGHEST);
    if (!found.has(port) && (await isFree(port))) found.add(port);
  }
  return ok([...found]);
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", () => resolve(false));
    server.listen({ host: "127.0.0.1", port, exclusive: true }, () => server.close(() => resolve(true)));
  });
}
