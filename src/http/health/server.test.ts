import { request } from "node:http";
import { afterEach, describe, expect, it } from "vitest";
import { expectOk, MetricsRegistry } from "#base";
import { startHealthServer, type Health, type HealthServer } from "./server.ts";

let server: HealthServer | undefined;
afterEach(() => server?.close());

async function serve(health: Health = { live: true, ready: true, details: {} }) {
  const metrics = new MetricsRegistry();
  metrics.counter("lattice_test_total", "test").add(1);
  server = expectOk(await startHealthServer({ host: "127.0.0.1", port: 0, health: () => health, metrics }));
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
    });
    expect(second).toMatchObject({ ok: false, error: expect.stringContaining(`cannot listen on 127.0.0.1:${port}`) as string });
  });

  it("close ends connections that are kept alive", async () => {
    const url = await serve();
    await new Promise<void>((resolve) => {
      request(`${url}/livez`, { headers: { connection: "keep-alive" } }, (response) => response.resume().on("end", resolve)).end();
    });
    await server?.close();
    await expect(fetch(`${url}/livez`)).rejects.toThrow();
  });
});
