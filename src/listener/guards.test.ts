/** The guards that use the listener's clock, with a clock that the test advances. */
import { EventEmitter } from "node:events";
import { connect as connectHttp2, createSecureServer, type ServerHttp2Session } from "node:http2";
import { connect, createServer, type AddressInfo } from "node:net";
import { afterEach, expect, test } from "vitest";
import { FakeClock, reveal, type Clock } from "#base";
import { authority, issue } from "../../test/builders/loopback-servers.ts";
import { LISTENER_LIMITS } from "./limits.ts";
import { guardSession } from "./session-guard.ts";
import { StalledWrites } from "./stalled-writes.ts";

const closing: (() => void)[] = [];
afterEach(() => {
  for (const close of closing.splice(0)) close();
});

test("a client that reads slowly is not disconnected, one that stops reading is", async () => {
  const clock = new FakeClock();
  const stalled = new StalledWrites(LISTENER_LIMITS, clock);
  const reader = Object.assign(new EventEmitter(), { writableLength: 1_000_000 });
  let disconnects = 0;
  stalled.add(reader, () => (disconnects += 1));
  const checks = 3 * (LISTENER_LIMITS.stallMs / LISTENER_LIMITS.checkMs);
  for (let check = 0; check < checks; check += 1) {
    if (check % 50 === 0) reader.writableLength -= 1;
    await clock.advance(LISTENER_LIMITS.checkMs);
  }
  expect(disconnects).toBe(0);
  await clock.advance(2 * LISTENER_LIMITS.stallMs);
  expect(disconnects).toBeGreaterThan(0);
  reader.emit("close");
  await clock.advance(LISTENER_LIMITS.stallMs);
  expect(clock.pending).toBe(0);
});

/** A bare HTTP/2 server whose first session is guarded. */
async function guardedSession(clock: Clock): Promise<{ readonly port: number; readonly session: Promise<ServerHttp2Session> }> {
  const { certificate, key } = issue(authority, "server", "server");
  const secure = createSecureServer({ cert: certificate, key: reveal(key) });
  secure.on("stream", (stream) => stream.on("error", () => {}).respond({ ":status": 200 }));
  const session = new Promise<ServerHttp2Session>((resolve) => {
    secure.once("session", (one) => {
      guardSession(one, LISTENER_LIMITS, clock);
      resolve(one);
    });
  });
  await new Promise<void>((resolve) => secure.listen(0, "127.0.0.1", resolve));
  closing.push(() => void secure.close());
  return { session, port: (secure.address() as AddressInfo).port };
}

/** A relay that forwards all bytes until it is stopped: then the client has vanished without closing its connection. */
async function relayTo(port: number): Promise<{ readonly port: number; readonly cut: () => void }> {
  let isOpen = true;
  const relay = createServer((near) => {
    const far = connect(port, "127.0.0.1");
    near.on("data", (chunk) => isOpen && far.write(chunk)).on("error", () => {});
    far.on("data", (chunk) => isOpen && near.write(chunk)).on("error", () => {});
    closing.push(
      () => void near.destroy(),
      () => void far.destroy(),
    );
  });
  await new Promise<void>((resolve) => relay.listen(0, "127.0.0.1", resolve));
  closing.push(() => void relay.close());
  return { port: (relay.address() as AddressInfo).port, cut: () => (isOpen = false) };
}

test("a client with an open request is pinged, and its connection closed when it does not reply", async () => {
  const clock = new FakeClock();
  const { port, session } = await guardedSession(clock);
  const relay = await relayTo(port);
  const client = connectHttp2(`https://127.0.0.1:${relay.port}`, { rejectUnauthorized: false });
  client.on("error", () => {});
  const stream = client.request({ ":path": "/" });
  stream.on("error", () => {});
  await new Promise((resolve) => stream.once("response", resolve));
  const server = await session;
  await clock.advance(LISTENER_LIMITS.headersMs + 1_000); // its settings have arrived: this limit is over
  const pinged = new Promise((resolve) => client.once("ping", resolve));
  await clock.advance(LISTENER_LIMITS.pingMs);
  await pinged;
  await new Promise((resolve) => client.ping(resolve)); // its reply has arrived by now
  await clock.advance(LISTENER_LIMITS.pingMs);
  expect(server.destroyed).toBe(false);
  relay.cut();
  await clock.advance(2 * LISTENER_LIMITS.pingMs);
  expect(server.destroyed).toBe(true);
  client.destroy();
  await new Promise((resolve) => setImmediate(resolve));
  expect(clock.pending).toBe(0);
});
