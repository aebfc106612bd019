import { connect, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import { afterEach, expect, test } from "vitest";
import { expectOk, sensitive, systemClock } from "#base";
import { authority, issue } from "../../test/builders/loopback-servers.ts";
import { listen, type Listener, type ListenerOptions } from "./index.ts";

let listener: Listener | undefined;
afterEach(() => listener?.close());

async function open(options: Partial<ListenerOptions> = {}): Promise<Listener> {
  const all = { host: "127.0.0.1", port: 0, clock: systemClock, ...options };
  return (listener = expectOk(await listen(all, (_request, response) => void response.end("ok"))));
}

async function connected({ port }: Listener): Promise<{ readonly socket: Socket; readonly closed: Promise<boolean> }> {
  const socket = connect(port, "127.0.0.1");
  const closed = new Promise<boolean>((resolve) => socket.once("close", () => resolve(true)));
  socket.on("error", () => {}).resume();
  await new Promise((resolve) => socket.once("connect", resolve));
  return { socket, closed };
}

test("a listener has the address and port that it is bound to", async () => {
  const { address, port } = await open({ host: "localhost" });
  expect(["127.0.0.1", "::1"]).toContain(address);
  const host = address.includes(":") ? `[${address}]` : address;
  expect(await (await fetch(`http://${host}:${port}/`)).text()).toBe("ok");
});

test("an address in use is an error", async () => {
  const { port } = await open();
  const second = await listen({ host: "127.0.0.1", port, clock: systemClock }, () => {});
  expect(second).toMatchObject({ ok: false, error: expect.stringContaining("EADDRINUSE") as string });
});

test("other ports are tried in their order while the port is in use", async () => {
  const taken = await open();
  const free = expectOk(await listen({ host: "127.0.0.1", port: 0, clock: systemClock }, () => {}));
  await free.close();
  const tried: number[] = [];
  function* others(...ports: readonly number[]): Generator<number> {
    for (const port of ports) {
      tried.push(port);
      yield port;
    }
  }
  const attempt = (host: string, ...ports: readonly number[]) =>
    listen({ host, port: taken.port, otherPorts: others(...ports), clock: systemClock }, () => {});
  const second = expectOk(await attempt("127.0.0.1", taken.port, free.port, 1));
  expect([second.port, tried]).toEqual([free.port, [taken.port, free.port]]);
  await second.close();
  expect(await attempt("192.0.2.1", 2)).toMatchObject({ ok: false, error: expect.stringContaining("EADDRNOTAVAIL") as string });
  expect(tried).toHaveLength(2);
  expect(await attempt("127.0.0.1", taken.port)).toMatchObject({ ok: false, error: expect.stringContaining("EADDRINUSE") as string });
});

test("with too many connections the newest is closed by default", async () => {
  const server = await open({ limits: { connections: 1 } });
  const first = await connected(server);
  const second = await connected(server);
  expect(await second.closed).toBe(true);
  expect(first.socket.destroyed).toBe(false);
});

test("with too many connections the oldest is closed if the option says so", async () => {
  const server = await open({ limits: { connections: 1 }, overflow: "close-oldest" });
  const first = await connected(server);
  const second = await connected(server);
  expect(await first.closed).toBe(true);
  expect(second.socket.destroyed).toBe(false);
});

test("close ends idle connections and open requests", async () => {
  const server = await open();
  const idle = await connected(server);
  await server.close();
  expect(await idle.closed).toBe(true);
  await expect(fetch(`http://127.0.0.1:${server.port}/`)).rejects.toThrow();
});

/** The subject of the server's certificate, or the error of the handshake. */
function subjectSeen({ port }: Listener, maxVersion: "TLSv1.2" | "TLSv1.3" = "TLSv1.3"): Promise<string> {
  return new Promise((resolve) => {
    const socket = connectTls({ port, host: "127.0.0.1", rejectUnauthorized: false, maxVersion }, () => {
      resolve(String(socket.getPeerCertificate().subject.CN));
      socket.destroy();
    });
    socket.on("error", (error) => resolve(error.message));
  });
}

test("a listener of TLS 1.3 refuses TLS 1.2, also after another certificate was loaded", async () => {
  const server = await open({ certificate: issue(authority, "first", "server"), minTlsVersion: "TLSv1.3" });
  expect(await subjectSeen(server)).toBe("first");
  expect(await subjectSeen(server, "TLSv1.2")).toMatch(/version|reset|closed|disconnected/);
  expectOk(server.reloadCertificate(issue(authority, "second", "server")));
  expect(await subjectSeen(server)).toBe("second");
  expect(await subjectSeen(server, "TLSv1.2")).toMatch(/version|reset|closed|disconnected/);
});

test("a certificate that cannot be read is an error, and the previous one is still used", async () => {
  const server = await open({ certificate: issue(authority, "first", "server") });
  expect(server.reloadCertificate({ certificate: "no PEM", key: sensitive("no PEM") }).ok).toBe(false);
  expect(await subjectSeen(server)).toBe("first");
});

test("a listener without TLS has no certificate to reload", async () => {
  const server = await open();
  expect(server.reloadCertificate(issue(authority, "any", "server"))).toEqual({ ok: false, error: "this listener has no TLS" });
});
