import { request } from "node:http";
import { connect, type Socket } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { expectOk, MetricsRegistry, systemClock } from "#base";
import { startHealthServer, type Health, type HealthServer } from "./server.ts";

let server: HealthServer | undefined;
afterEach(() => server?.close());

type Open = { readonly socket: Socket; readonly closed: Promise<boolean> };

/** One after the other, so that the first is the oldest. */
async function open(url: string, count: number, first = ""): Promise<readonly Open[]> {
  const opened: Open[] = [];
  for (let number = 0; number < count; number += 1) {
    const socket = connect(Number(new URL(url).port), "127.0.0.1");
    const closed = new Promise<boolean>((resolve) => socket.once("close", () => resolve(true)));
    socket.on("error", () => {}).resume();
    await new Promise((resolve) => socket.once("connect", resolve));
    socket.write(first);
    opened.push({ socket, closed });
  }
  return opened;
}

async function serve(health: Health = { live: true, ready: true, details: {} }) {
  const metrics = new MetricsRegistry();
  metrics.counter("lattice_test_total", "test").add(1);
  server = expectOk(
    await startHealthServer({ host: "127.0.0.1", port: 0, health: () => health, metrics, clock: systemClock, maxConnections: 64 }),
  );
  return server.url;
}

describe("the health server", () => {
  it.each([
    { path: "/livez", health: { live: true, ready: false }, code: 200, text: "ok\n" },
    { path: "/healthz", health: { live: false, ready: true }, code: 503, text: "not live\n" },
    { path: "/readyz", health: { live: true, ready: false }, code: 503, text: "not ready\ninformer pods: listing\n" },
    { path: "/readyz?verbose", health: { live: true, ready: true }, code: 200, text: "ok\n" },
    { path: "/", health: { live: true, ready: true }, code: 200, text: "lattice operator" },
    { path: "/nowhere", health: { live: true, ready: true }, code: 404, text: "there is /livez" },
  ])("$path answers $code", async ({ path, health, code, text }) => {
    const url = await serve({ ...health, details: health.ready ? {} : { "informer pods": "listing" } });
    const response = await fetch(url + path);
    expect(response.status).toBe(code);
    expect(await response.text()).toContain(text);
  });

  it("shows metrics as Prometheus reads them", async () => {
    const response = await fetch(`${await serve()}/metrics`);
    expect(response.headers.get("content-type")).toContain("version=0.0.4");
    expect(await response.text()).toContain("lattice_test_total 1");
  });

  it("takes no writes", async () => {
    const response = await fetch(`${await serve()}/livez`, { method: "POST", body: "x" });
    expect(response.status).toBe(405);
  });

  it("says which address is taken", async () => {
    const port = Number(new URL(await serve()).port);
    const second = await startHealthServer({
      host: "127.0.0.1",
      port,
      health: () => ({ live: true, ready: true, details: {} }),
      metrics: new MetricsRegistry(),
      clock: systemClock,
    });
    expect(second).toMatchObject({ ok: false, error: expect.stringContaining(`cannot listen on 127.0.0.1:${port}`) as string });
  });

  it("keeps no connection open after its answer", async () => {
    const url = await serve();
    const connection = await new Promise((resolve) => {
      request(`${url}/livez`, { headers: { connection: "keep-alive" } }, (response) => resolve(response.headers.connection)).end();
    });
    expect(connection).toBe("close");
  });

  it("close ends connections that are open", async () => {
    const url = await serve();
    const [idle] = await open(url, 1);
    await server?.close();
    expect(await idle?.closed).toBe(true);
    await expect(fetch(`${url}/livez`)).rejects.toThrow();
  });

  it("closes the oldest connection when there are too many, so that a new probe is answered", async () => {
    const url = await serve();
    const idle = await open(url, 64);
    expect((await fetch(`${url}/livez`)).status).toBe(200);
    expect(await idle[0]?.closed).toBe(true);
    const more = await open(url, 100);
    expect((await fetch(`${url}/readyz`)).status).toBe(200);
    expect(await Promise.all([...idle, ...more.slice(0, 37)].map(({ closed }) => closed))).toEqual(Array.from({ length: 101 }, () => true));
    expect(more.at(-1)?.socket.destroyed).toBe(false);
  });

  it("closes a connection whose headers do not come", async () => {
    const url = await serve();
    const [slow] = await open(url, 1, "GET /livez HTTP/1.1\r\nhost: x\r\n");
    expect(await slow?.closed).toBe(true);
  });
});
