/** Attacks on the bootstrap server, one test each, on a real TLS listener. During every one another child bootstraps from the same address. */
import { connect as connectTcp } from "node:net";
import { connect as connectTls, type ConnectionOptions } from "node:tls";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { expectOk, systemClock } from "#base";
import { authority } from "../../../test/builders/loopback-servers.ts";
import { untilClosed, untilClosedWhileSending } from "../../../test/builders/sockets.ts";
import {
  bootstrap,
  csrOf,
  csrTokenIn,
  DAY,
  newChild,
  openWorld,
  post,
  serveWorld,
  type BootstrapWorld,
  type Post,
} from "./bootstrap-world.test-support.ts";
import { BOOTSTRAP_LIMITS } from "./limits.ts";
import type { BootstrapServer } from "./server.ts";

let world: BootstrapWorld;
let server: BootstrapServer;
let bystander: Promise<void>;
let count = 0;
beforeAll(async () => {
  world = await openWorld();
  server = await serveWorld(world);
});
afterAll(async () => {
  await server.close();
  await world.close();
});

async function bootstrapOther(port = server.port): Promise<void> {
  count += 1;
  const { registered, signed } = await bootstrap(world, port, `bystander-${count}`);
  expect([registered.status, signed.status]).toEqual([200, 200]);
}

beforeEach(() => {
  bystander = bootstrapOther();
  bystander.catch(() => {});
});
afterEach(async () => {
  await bystander;
  // the failures of one test are not those of the next
  world.clock.jump(60_000);
});

const REFUSED = { status: 401, text: '{"error":"authentication failed"}\n' };
const register = (token: string, more: Post = {}) => post(server.port, "/api/clusters/register", { token, ...more });
const requestCertificate = (name: string, token: string, body: string | Uint8Array = csrOf("attacker")) =>
  post(server.port, `/api/clusters/${name}/csr`, { token, body });
const registered = async (name: string) => {
  const child = await newChild(world, name);
  return { ...child, csr: csrTokenIn((await register(child.bootstrap)).text) };
};

describe("tokens", () => {
  test("a wrong token", async () => {
    const { bootstrap: token } = await newChild(world, "victim-wrong");
    const last = token.endsWith("A") ? "B" : "A";
    expect(await register(`${token.slice(0, -1)}${last}`)).toMatchObject(REFUSED);
    expect(await register(`victim-wrong.${"A".repeat(43)}`)).toMatchObject(REFUSED);
  });

  test("an expired token", async () => {
    const { bootstrap: token } = await newChild(world, "victim-expired");
    const csr = csrTokenIn((await register(token)).text);
    await bystander;
    world.clock.jump(DAY);
    expect(await register(token)).toMatchObject(REFUSED);
    expect(await requestCertificate("victim-expired", csr)).toMatchObject(REFUSED);
  });

  test("a spent token", async () => {
    const { bootstrap: token } = await bootstrap(world, server.port, "victim-spent");
    expect(await register(token)).toMatchObject(REFUSED);
  });

  test("a token that is truncated at any place", async () => {
    const { bootstrap: token } = await newChild(world, "victim-cut");
    for (const length of [0, 1, 10, token.length - 2, token.length - 1]) {
      expect(await register(token.slice(0, length) || "x")).toMatchObject(REFUSED);
    }
  });

  test("a token with something appended", async () => {
    const { bootstrap: token } = await newChild(world, "victim-long");
    for (const more of ["A", "=", ".A", "%00", "A".repeat(4_000)]) expect(await register(`${token}${more}`)).toMatchObject(REFUSED);
  });

  test("another cluster's token", async () => {
    const [own, victim] = [await registered("attacker-a"), await newChild(world, "victim-b")];
    expect(await requestCertificate("victim-b", own.csr)).toMatchObject(REFUSED);
    const renamed = own.bootstrap.replace("attacker-a", "victim-b");
    expect(await register(renamed)).toMatchObject(REFUSED);
    expect((await register(victim.bootstrap)).status).toBe(200);
  });

  test("a token for another use", async () => {
    const { bootstrap: token, csr, proxy } = await registered("victim-use");
    expect(await register(csr)).toMatchObject(REFUSED);
    expect(await register(proxy)).toMatchObject(REFUSED);
    expect(await requestCertificate("victim-use", token)).toMatchObject(REFUSED);
    expect(await requestCertificate("victim-use", proxy)).toMatchObject(REFUSED);
    const report = JSON.stringify({ step: "a", message: "b", node: "c" });
    expect(await post(server.port, "/api/clusters/victim-use/report", { token: csr, body: report })).toMatchObject(REFUSED);
  });

  test("the tokens of a revoked cluster", async () => {
    const { bootstrap: token, csr } = await registered("victim-revoked");
    expectOk(await world.registrations.revoke("victim-revoked"));
    expect(await register(token)).toMatchObject(REFUSED);
    expect(await requestCertificate("victim-revoked", csr)).toMatchObject(REFUSED);
  });

  test("another key with the CSR token, after the agent has connected", async () => {
    const { csr, serial } = await bootstrap(world, server.port, "victim-key");
    expectOk(await world.registrations.connected("victim-key", serial));
    expect(await requestCertificate("victim-key", csr)).toMatchObject(REFUSED);
  });

  test("every refusal has the same head and body", async () => {
    const { bootstrap: spent } = await bootstrap(world, server.port, "victim-same");
    const answers = [
      await register(spent),
      await register(`unknown.${"A".repeat(43)}`),
      await register("x"),
      await post(server.port, "/api/clusters/register"),
      await requestCertificate("unknown", spent),
      await post(server.port, "/api/clusters/unknown/renew", { body: "{}" }),
    ];
    const heads = answers.map(({ headers, status, text }) => JSON.stringify({ status, text, headers: { ...headers, date: "" } }));
    expect(new Set(heads).size).toBe(1);
  });
});

describe("certificate requests", () => {
  test("a CSR for another name gets a certificate of the token's cluster", async () => {
    const { csr } = await registered("victim-name");
    const answer = await requestCertificate("victim-name", csr, csrOf("k", "spiffe://cell.lattice/cluster/another"));
    expect(answer).toMatchObject({ status: 200, text: expect.stringContaining("of victim-name") as string });
    expect(answer.text).not.toContain("another");
  });

  test("a body of 1 MB, with and without a token", async () => {
    const { csr, bootstrap: token } = await registered("victim-large");
    const body = Buffer.alloc(1_000_000, "x");
    expect((await requestCertificate("victim-large", csr, body)).status).toBe(413);
    expect((await requestCertificate("victim-large", "x", body)).status).toBe(401);
    expect((await register(token, { body })).status).toBe(200);
  });

  test("a body of 1 MB in chunks, without its length", async () => {
    const { csr } = await registered("victim-chunked");
    const answer = await post(server.port, "/api/clusters/victim-chunked/csr", {
      token: csr,
      body: Buffer.alloc(1_000_000, "x"),
      more: { headers: { "transfer-encoding": "chunked" } },
    });
    // the rest of the body may be cut off before the client reads the answer
    expect([413, 0]).toContain(answer.status);
  });

  test("a body that is one byte too long, and one with exactly the limit", async () => {
    const { csr } = await registered("victim-limit");
    const most = BOOTSTRAP_LIMITS.csrBytes;
    expect((await requestCertificate("victim-limit", csr, "x".repeat(most + 1))).status).toBe(413);
    expect((await requestCertificate("victim-limit", csr, "x".repeat(most))).status).toBe(400);
  });

  test("trailing bytes after the request", async () => {
    const { csr, bootstrap: token } = await registered("victim-trailing");
    for (const more of ["\0", "\n", csrOf("second")]) {
      expect((await requestCertificate("victim-trailing", csr, `${csrOf("k")}${more}`)).status).toBe(400);
    }
    expect((await register(token)).status).toBe(200);
  });

  test("a compressed body", async () => {
    const { csr } = await registered("victim-gzip");
    const more = { headers: { "content-encoding": "gzip" } };
    expect((await post(server.port, "/api/clusters/victim-gzip/csr", { token: csr, body: "x", more })).status).toBe(415);
  });
});

describe("connections", () => {
  const tls = (options: ConnectionOptions = {}) =>
    connectTls({ port: server.port, host: "127.0.0.1", ca: authority.certificate, ALPNProtocols: ["http/1.1"], ...options });

  /** Long enough for a child on a busy machine. */
  const short = { ...BOOTSTRAP_LIMITS.listener, headersMs: 1_500, requestMs: 2_000, checkMs: 20 };

  test("slow-loris: headers and bodies that never end", async () => {
    const { csr } = await registered("victim-loris");
    const own = await serveWorld(world, { listener: short });
    const head = (endpoint: string) =>
      `POST /api/clusters/victim-loris/${endpoint} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${csr}\r\ncontent-length: 9000\r\n`;
    await Promise.all([
      untilClosedWhileSending(tls({ port: own.port }), "x: y\r\n", head("csr")),
      untilClosedWhileSending(tls({ port: own.port }), "x", `${head("csr")}\r\n`),
      untilClosedWhileSending(tls({ port: own.port }), "x", `${head("renew")}\r\n`),
      bootstrapOther(own.port),
    ]);
    await own.close();
  });

  test("TLS 1.2", async () => {
    const error = await new Promise((resolve) =>
      tls({ maxVersion: "TLSv1.2" })
        .on("error", resolve)
        .on("secureConnect", () => resolve("open")),
    );
    expect(String(error)).toMatch(/version|alert|reset/i);
  });

  test("plain text", async () => {
    const answer = await untilClosed(connectTcp(server.port, "127.0.0.1"), "POST /api/clusters/register HTTP/1.1\r\nhost: x\r\n\r\n");
    expect(answer).not.toContain("200 OK");
  });

  test("connections that send nothing do not keep a child from its answer", async () => {
    const idle = Array.from({ length: 50 }, () =>
      connectTcp(server.port, "127.0.0.1")
        .on("error", () => {})
        .resume(),
    );
    await bootstrapOther();
    for (const socket of idle) socket.destroy();
  });

  test("a client that closes its connection in the middle of a body", async () => {
    const { csr } = await registered("victim-abort");
    const socket = tls();
    const head = `POST /api/clusters/victim-abort/csr HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${csr}\r\ncontent-length: 100\r\n\r\nx`;
    await new Promise((resolve) => socket.once("secureConnect", resolve));
    await new Promise((resolve) => socket.write(head, resolve));
    socket.destroy();
    expect((await requestCertificate("victim-abort", csr, csrOf("k"))).status).toBe(200);
  });
});

describe("requests in large numbers", () => {
  test("200 concurrent registers of one cluster: few are answered, and the manifests are rendered less often than that", async () => {
    const { bootstrap: token } = await newChild(world, "victim-many");
    const answers = await Promise.all(Array.from({ length: 200 }, () => register(token)));
    const statuses = answers.map(({ status }) => status);
    const served = answers.filter(({ status }) => status === 200);
    expect(statuses.filter((status) => status === 429)).toHaveLength(180);
    expect([served.length, new Set(served.map(({ text }) => text)).size]).toEqual([20, 1]);
    expect(world.rendered.filter((name) => name === "victim-many").length).toBeLessThanOrEqual(20);
    world.clock.jump(1_000);
    expect((await register(token)).status).toBe(200);
  });

  test("huge numbers of failures from one address: refused without work, and children of that address are served", async () => {
    await bystander;
    const before = world.lines.length;
    const started = systemClock.monotonic();
    const statuses = new Set<number>();
    for (let round = 0; round < 10; round += 1) {
      const answers = await Promise.all(Array.from({ length: 50 }, () => register(`unknown.${"A".repeat(43)}`)));
      for (const { status } of answers) statuses.add(status);
    }
    expect(statuses).toEqual(new Set([401, 429]));
    await bootstrapOther();
    expect(world.lines.length - before).toBeLessThan(80);
    expect(systemClock.monotonic() - started).toBeLessThan(20_000);
  });

  test("huge numbers of requests that need no token do not fill the log", async () => {
    await bystander;
    const before = world.lines.length;
    for (let round = 0; round < 4; round += 1) {
      const get = () => post(server.port, "/api/clusters/register", { more: { method: "GET" } });
      const renew = () => post(server.port, "/api/clusters/any/renew", { body: Buffer.alloc(60_000) });
      await Promise.all(Array.from({ length: 30 }, (_, at) => (at % 2 === 0 ? get() : renew())));
    }
    expect(world.lines.length - before).toBeLessThan(60);
    await bootstrapOther();
  });

  test("more requests at once than the server works on are asked to try again", async () => {
    const small = await serveWorld(world, { concurrent: 1 });
    const children = [await newChild(world, "crowd-a"), await newChild(world, "crowd-b"), await newChild(world, "crowd-c")];
    const answers = await Promise.all(children.map(({ bootstrap: token }) => post(small.port, "/api/clusters/register", { token })));
    for (const { status } of answers) expect([200, 503]).toContain(status);
    expect(answers.some(({ status }) => status === 200)).toBe(true);
    await small.close();
  });
});

describe("headers and paths", () => {
  test.each([
    { name: "two Authorization headers", value: (token: string) => [`Bearer ${token}`, `Bearer ${token}`] },
    { name: "another scheme", value: (token: string) => `Basic ${token}` },
    { name: "no scheme", value: (token: string) => token },
    { name: "two tokens", value: (token: string) => `Bearer ${token} ${token}` },
    { name: "two spaces", value: (token: string) => `Bearer  ${token}` },
    { name: "quotes", value: (token: string) => `Bearer "${token}"` },
    { name: "a list", value: (token: string) => `Bearer ${token}, Bearer x` },
  ])("$name", async ({ value }) => {
    count += 1;
    const { bootstrap: token } = await newChild(world, `victim-header-${count}`);
    const more = { headers: { Authorization: value(token) } };
    expect(await post(server.port, "/api/clusters/register", { more })).toMatchObject(REFUSED);
  });

  test("a token in the query, in a cookie or in the body", async () => {
    const { bootstrap: token } = await newChild(world, "victim-place");
    expect((await post(server.port, `/api/clusters/register?token=${token}`)).status).toBe(404);
    expect(await post(server.port, "/api/clusters/register", { more: { headers: { cookie: `token=${token}` } } })).toMatchObject(REFUSED);
    expect(await post(server.port, "/api/clusters/register", { body: token })).toMatchObject(REFUSED);
  });

  test("X-Forwarded-For does not change the address in the audit", async () => {
    await register("x", {
      more: { headers: { authorization: "Bearer x", "x-forwarded-for": "203.0.113.9", forwarded: "for=203.0.113.9" } },
    });
    expect(JSON.stringify(world.lines)).not.toContain("203.0.113.9");
  });

  test("two lengths, or a length and chunks, in one request", async () => {
    for (const head of ["content-length: 1\r\ncontent-length: 2", "content-length: 1\r\ntransfer-encoding: chunked"]) {
      const socket = connectTls({ port: server.port, host: "127.0.0.1", ca: authority.certificate, ALPNProtocols: ["http/1.1"] });
      const answer = await untilClosed(socket, `POST /api/clusters/register HTTP/1.1\r\nhost: x\r\n${head}\r\n\r\n`);
      expect(answer).toMatch(/^HTTP\/1.1 400|^$/);
    }
  });

  test("headers of 100 KB", async () => {
    const answer = await post(server.port, "/api/clusters/register", { more: { headers: { "x-large": "x".repeat(100_000) } } });
    expect([431, 0]).toContain(answer.status);
  });

  test.each([
    { path: "/api/clusters/a%2fb/csr", status: 401 },
    { path: "/api/clusters/%2e%2e/csr", status: 401 },
    { path: "/api/clusters/../csr", status: 401 },
    { path: "/api/clusters/__proto__/csr", status: 401 },
    { path: "/api/clusters/constructor/renew", status: 401 },
    { path: "/api/clusters/__proto__/report", status: 401 },
    { path: "/api/clusters/victim-path/csr/", status: 404 },
    { path: "/api/clusters/victim-path/../victim-path/csr", status: 404 },
    { path: "//api/clusters/victim-path/csr", status: 404 },
    { path: "/api/clusters/victim-path/csr?x", status: 404 },
    { path: "/api/clusters//csr", status: 404 },
    { path: "/api/clusters/victim-path/CSR", status: 404 },
    { path: `/api/clusters/${"a".repeat(300)}/csr`, status: 404 },
    { path: "/api/clusters/register/", status: 404 },
    { path: "/", status: 404 },
  ])("$path is $status", async ({ path, status }) => {
    const { csr } = await registeredOnce();
    expect((await post(server.port, path, { token: csr, body: csrOf("attacker") })).status).toBe(status);
  });

  let paths: Promise<Awaited<ReturnType<typeof registered>>> | undefined;
  const registeredOnce = () => (paths ??= registered("victim-path"));

  test("__proto__ as the cluster of a token", async () => {
    for (const name of ["__proto__", "constructor", "toString"]) expect(await register(`${name}.${"A".repeat(43)}`)).toMatchObject(REFUSED);
    const { csr } = await registered("victim-proto");
    expect(await requestCertificate("__proto__", csr)).toMatchObject(REFUSED);
  });

  test.each(["GET", "PUT", "DELETE", "OPTIONS", "TRACE", "PATCH"])("%s is not answered", async (method) => {
    expect((await post(server.port, "/api/clusters/register", { more: { method } })).status).toBe(405);
  });
});
