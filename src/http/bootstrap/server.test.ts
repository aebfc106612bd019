import { connect as connectTls } from "node:tls";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { expectOk, MetricsRegistry, sensitive, silentLogger, systemClock } from "#base";
import { authority, issue } from "../../../test/builders/loopback-servers.ts";
import {
  bootstrap,
  certificateIn,
  csrOf,
  csrTokenIn,
  DAY,
  newChild,
  openWorld,
  post,
  renewalOf,
  serialIn,
  serveWorld,
  type BootstrapWorld,
} from "./bootstrap-world.test-support.ts";
import { startBootstrapServer, type BootstrapServer } from "./server.ts";

let world: BootstrapWorld;
let server: BootstrapServer;
beforeAll(async () => {
  world = await openWorld();
  server = await serveWorld(world);
});
afterAll(async () => {
  await server.close();
  await world.close();
});

const register = (token: string) => post(server.port, "/api/clusters/register", { token });

describe("register", () => {
  test("answers the same manifests until the first CSR is signed", async () => {
    const child = await newChild(world, "same");
    const [first, second] = [await register(child.bootstrap), await register(child.bootstrap)];
    expect(first).toMatchObject({ status: 200, headers: { "content-type": "application/yaml", "cache-control": "no-store" } });
    expect(second.text).toBe(first.text);
    const token = csrTokenIn(first.text);
    expect((await post(server.port, "/api/clusters/same/csr", { token, body: csrOf("k") })).status).toBe(200);
    expect((await register(child.bootstrap)).status).toBe(401);
  });

  test("the token expires with the deadline of the parent, which can be extended", async () => {
    const child = await newChild(world, "slow");
    world.clock.jump(DAY);
    expect((await register(child.bootstrap)).status).toBe(401);
    expectOk(await world.registrations.extend("slow", world.clock.now() + DAY));
    expect((await register(child.bootstrap)).status).toBe(200);
  });
});

describe("csr", () => {
  test("answers a certificate and the authorities to trust", async () => {
    const { signed, serial } = await bootstrap(world, server.port, "first");
    expect(JSON.parse(signed.text)).toEqual({ certificate: `certificate ${serial} of first`, trustBundle: "bundle" });
    expect(world.registrations.accessOf("first")).toMatchObject({ spent: true, closed: false, certificates: [{ serial }] });
  });

  test("the same key gets a certificate again until its agent has connected", async () => {
    const { csr, serial } = await bootstrap(world, server.port, "again", "k");
    const again = await post(server.port, "/api/clusters/again/csr", { token: csr, body: csrOf("k") });
    expect(again.status).toBe(200);
    expectOk(await world.registrations.connected("again", serialIn(again)));
    for (const key of ["k", "other"]) {
      expect((await post(server.port, "/api/clusters/again/csr", { token: csr, body: csrOf(key) })).status).toBe(401);
    }
    expect([serial, serialIn(again)].map((one) => world.registrations.isAccepted("again", one))).toEqual([true, true]);
  });

  test("a request that cannot be read spends nothing", async () => {
    const child = await newChild(world, "broken");
    const token = csrTokenIn((await register(child.bootstrap)).text);
    const answer = await post(server.port, "/api/clusters/broken/csr", { token, body: "no PEM" });
    expect(answer).toMatchObject({ status: 400, text: '{"error":"the request is not valid"}\n' });
    const bytes = Uint8Array.of(0xff, 0xfe);
    expect((await post(server.port, "/api/clusters/broken/csr", { token, body: bytes })).status).toBe(400);
    expect((await register(child.bootstrap)).status).toBe(200);
  });
});

describe("renew", () => {
  test("an agent renews with its old key, until the new one has connected", async () => {
    const { serial } = await bootstrap(world, server.port, "renewing", "k1");
    expectOk(await world.registrations.connected("renewing", serial));
    world.clock.jump(40 * DAY);
    const renew = (old: string, key: string) =>
      post(server.port, "/api/clusters/renewing/renew", { body: renewalOf("renewing", old, csrOf(key)) });
    const renewed = await renew(serial, "k2");
    expect(certificateIn(renewed)).toContain("of renewing");
    expect((await renew(serial, "k2")).status).toBe(200);
    expectOk(await world.registrations.connected("renewing", serialIn(renewed)));
    expect((await renew(serial, "k3")).status).toBe(401);
    expect((await renew(serialIn(renewed), "k3")).status).toBe(200);
  });

  test("a revoked agent renews nothing", async () => {
    const { serial } = await bootstrap(world, server.port, "stolen");
    expectOk(await world.registrations.revoke("stolen"));
    const answer = await post(server.port, "/api/clusters/stolen/renew", { body: renewalOf("stolen", serial, csrOf("k")) });
    expect(answer.status).toBe(401);
  });

  test.each([
    { name: "a forged signature", body: renewalOf("first", "1000", csrOf("k"), "forged") },
    { name: "the renewal of another cluster", body: renewalOf("again", "1000", csrOf("k")) },
    { name: "no JSON", body: "?" },
    { name: "a CSR that cannot be read", body: renewalOf("first", "1000", "no PEM") },
  ])("$name is a failed authentication", async ({ body }) => {
    const answer = await post(server.port, "/api/clusters/first/renew", { body });
    expect(answer).toMatchObject({ status: 401, text: '{"error":"authentication failed"}\n' });
  });

  test("renewals of one address are limited before their signature is checked", async () => {
    const limited = await serveWorld(world, { renewals: { perSecond: 1, burst: 1 } });
    const send = () => post(limited.port, "/api/clusters/first/renew", { body: "?" });
    expect([(await send()).status, (await send()).status]).toEqual([401, 429]);
    await limited.close();
  });
});

describe("report", () => {
  const report = { step: "apply", message: "the API server did not answer", node: "cp-0" };

  test("is kept as the last one, and passed on", async () => {
    const { bootstrap: token } = await newChild(world, "failing");
    const body = JSON.stringify(report);
    expect((await post(server.port, "/api/clusters/failing/report", { token, body })).status).toBe(200);
    expect(world.reports).toContainEqual({ cluster: "failing", ...report, at: world.clock.now() });
    expect(world.registrations.accessOf("failing")?.lastReport).toEqual({ ...report, at: world.clock.now() });
    expect((await register(token)).status).toBe(200);
  });

  test("is limited per cluster", async () => {
    const { bootstrap: token } = await newChild(world, "noisy");
    const statuses: number[] = [];
    for (let sent = 0; sent < 7; sent += 1) {
      statuses.push((await post(server.port, "/api/clusters/noisy/report", { token, body: JSON.stringify(report) })).status);
    }
    expect(statuses).toEqual([200, 200, 200, 200, 200, 429, 429]);
  });

  test("needs a valid token of the cluster in the path, and a valid body", async () => {
    const { bootstrap: token } = await newChild(world, "strict");
    const send = (name: string, body: string) => post(server.port, `/api/clusters/${name}/report`, { token, body });
    expect((await send("failing", JSON.stringify(report))).status).toBe(401);
    expect((await send("strict", JSON.stringify({ ...report, message: "x".repeat(1_025) }))).status).toBe(400);
    expect((await send("strict", "x".repeat(10_000))).status).toBe(413);
  });
});

describe("the server", () => {
  test("loads another certificate while it listens", async () => {
    const own = await serveWorld(world);
    const serving = () =>
      new Promise((resolve) => {
        const socket = connectTls({ port: own.port, host: "127.0.0.1", ca: authority.certificate }, () => {
          resolve(socket.getPeerCertificate().subject.CN);
          socket.destroy();
        });
      });
    expect(await serving()).toBe("cell");
    expectOk(own.reloadTls(issue(authority, "renewed", "server")));
    expect(await serving()).toBe("renewed");
    expect(own.reloadTls({ certificate: "broken", key: sensitive("broken") }).ok).toBe(false);
    expect(await serving()).toBe("renewed");
    await own.close();
  });

  test("an address in use is an error with the address", async () => {
    const tls = issue(authority, "cell", "server");
    const second = await startBootstrapServer({
      host: "127.0.0.1",
      port: server.port,
      tls,
      registrations: world.registrations,
      clock: systemClock,
      logger: silentLogger,
      metrics: new MetricsRegistry(),
    });
    expect(second).toMatchObject({ ok: false, error: expect.stringContaining(`127.0.0.1:${server.port}`) as string });
  });

  test("speaks HTTP/2 too, and closes a stream whose body does not end", async () => {
    const { connect } = await import("node:http2");
    const { bootstrap: token } = await newChild(world, "h2");
    const session = connect(`https://127.0.0.1:${server.port}`, { ca: authority.certificate });
    const stream = session.request({ ":method": "POST", ":path": "/api/clusters/register", authorization: `Bearer ${token}` });
    const status = await new Promise((resolve) => stream.on("response", (headers) => resolve(headers[":status"])));
    let text = "";
    for await (const chunk of stream) text += String(chunk);
    expect([status, csrTokenIn(text)]).toEqual([200, expect.stringMatching(/^h2\./) as string]);
    await new Promise<void>((resolve) => session.close(resolve));
  });

  test("answers 503 while the API server does not, and the token stays valid", async () => {
    const child = await newChild(world, "outage");
    using _ = world.cluster.intercept({ resource: "secrets", verb: "get" }, () => ({ kind: "broken" }));
    const answer = await register(child.bootstrap);
    expect(answer).toMatchObject({ status: 503, headers: { "retry-after": "5" } });
    expect(answer.text).not.toContain("broken");
  });

  test("manifests that cannot be rendered are an error that is logged, and a bug does not end the server", async () => {
    expect((await register((await newChild(world, "unrendered")).bootstrap)).status).toBe(503);
    expect(world.lines.at(-1)?.fields).toMatchObject({ reason: "the bundle has no manifests for this version" });
    expect((await register((await newChild(world, "bug")).bootstrap)).status).toBe(500);
    expect((await register((await newChild(world, "no-bug")).bootstrap)).status).toBe(200);
  });

  test("a record that was deleted meanwhile is a failed authentication", async () => {
    const child = await newChild(world, "deleted");
    using _ = world.cluster.intercept({ resource: "secrets", verb: "get", times: 1 }, (_action, _next) => ({
      kind: "json",
      code: 404,
      warnings: [],
      body: { kind: "Status", apiVersion: "v1", metadata: {}, status: "Failure", reason: "NotFound", code: 404, message: "not found" },
    }));
    expect((await register(child.bootstrap)).status).toBe(401);
  });

  test("every request has a line with cluster, address and outcome, and no line has a token", async () => {
    const { bootstrap: token, csr, proxy } = await bootstrap(world, server.port, "audited");
    await post(server.port, "/api/clusters/audited/csr", { token: `${csr}x`, body: csrOf("k") });
    const lines = world.lines.filter(({ message, fields }) => message === "bootstrap request" && fields["cluster"] === "audited");
    expect(lines.map(({ level, fields }) => [level, fields["endpoint"], fields["outcome"], fields["address"], fields["status"]])).toEqual([
      ["info", "register", "ok", "127.0.0.1", 200],
      ["info", "csr", "ok", "127.0.0.1", 200],
      ["warn", "csr", "unauthenticated", "127.0.0.1", 401],
    ]);
    const all = JSON.stringify(world.lines);
    for (const one of [token, csr, proxy]) expect(all).not.toContain(one.split(".")[1]);
    expect(world.metrics.render()).toMatch(/lattice_bootstrap_requests_total\{endpoint="register",outcome="ok"\} [0-9]+/);
  });
});
