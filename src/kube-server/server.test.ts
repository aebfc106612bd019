import { Buffer } from "node:buffer";
import { mkdtemp, rm } from "node:fs/promises";
import { request as httpRequest } from "node:http";
import { connect as connectHttp2 } from "node:http2";
import { request as httpsRequest } from "node:https";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { expectOk, reveal, silentLogger, systemClock } from "#base";
import { defineResource } from "#kube";
import { inProcessClient } from "./in-process.ts";
import { startServer, type RunningServer, type ServerOptions } from "./server.ts";

const MAPS = "/api/v1/namespaces/default/configmaps";
const running = new Set<RunningServer>();

afterEach(async () => {
  for (const server of running) await server.close();
  running.clear();
});

async function start(options: Partial<ServerOptions> = {}): Promise<RunningServer> {
  const server = expectOk(
    await startServer({ port: 0, plain: true, tokens: 'good,alice,u1,"devs"', clock: systemClock, random: Math.random, ...options }),
  );
  running.add(server);
  return server;
}

const call = (server: RunningServer, path: string, init: RequestInit = {}, token = "good") =>
  fetch(`${server.url}${path}`, {
    ...init,
    headers: {
      authorization: `Bearer ${token}`,
      "content-type": "application/json",
      ...(init.headers as Record<string, string> | undefined),
    },
  });

test("a request over HTTP is answered, with its warnings, and written as one line of JSON", async () => {
  const server = await start();
  const created = await call(server, MAPS, {
    method: "POST",
    body: '{"metadata":{"name":"a"},"zz":1,"中":2}',
    headers: { "user-agent": "x" },
  });
  expect(created.status).toBe(201);
  expect(created.headers.get("warning")).toBe('299 - "unknown field \\"zz\\"", 299 - "unknown field \\" \\""');
  expect(await created.text()).toMatch(/^\{.*\}\n$/s);
  const one = await call(server, `${MAPS}/a`);
  expect(one.headers.get("content-type")).toBe("application/json");
  expect((await call(server, "/healthz", { method: "HEAD" })).status).toBe(200);
});

test.each([
  { name: "no token", headers: {} },
  { name: "an unknown token", headers: { authorization: "Bearer bad" } },
  { name: "another scheme", headers: { authorization: "Basic eDp5" } },
])("$name is a 401, whatever is asked", async ({ headers }) => {
  const server = await start();
  for (const path of [MAPS, "/version"]) {
    const refused = await fetch(`${server.url}${path}`, { method: "GET", headers: headers as Record<string, string> });
    expect(refused.status).toBe(401);
    expect(await refused.json()).toMatchObject({ kind: "Status", message: "Unauthorized", reason: "Unauthorized", code: 401 });
  }
});

test("a body that is too large is a 413, declared or not", async () => {
  const server = await start();
  const big = "x".repeat(3 * 1024 * 1024 + 1);
  expect(await (await call(server, MAPS, { method: "POST", body: big })).json()).toMatchObject({
    code: 413,
    reason: "RequestEntityTooLarge",
  });
  const streamed = await new Promise<number>((resolve, reject) => {
    const url = new URL(MAPS, server.url);
    const request = httpRequest(
      url,
      { method: "POST", headers: { authorization: "Bearer good", "transfer-encoding": "chunked" } },
      (response) => {
        response.resume();
        resolve(response.statusCode ?? 0);
      },
    );
    request.on("error", reject);
    request.end(big);
  });
  expect(streamed).toBe(413);
});

test("a watch over HTTP has its headers at once, its events as they come, and ends with the server", async () => {
  const server = await start();
  const watching = await call(server, `${MAPS}?watch=1&resourceVersion=0`);
  expect(watching.status).toBe(200);
  await call(server, MAPS, { method: "POST", body: '{"metadata":{"name":"a"}}' });
  const reader = watching.body?.getReader();
  const first = await reader?.read();
  expect(Buffer.from(first?.value ?? []).toString()).toMatch(/^\{"type":"ADDED"/);
  await server.close();
  running.delete(server);
  const end = await (reader?.read() ?? Promise.resolve(undefined)).then(
    (read) => read?.done,
    () => true,
  );
  expect(end).toBe(true);
});

test("a client that leaves its watch is forgotten", async () => {
  const server = await start();
  const leaving = new AbortController();
  await call(server, `${MAPS}?watch=1`, { signal: leaving.signal });
  leaving.abort();
  expect((await call(server, "/livez")).status).toBe(200);
});

test("with TLS it speaks HTTP/1.1 and HTTP/2, with a certificate that its own authority issued", async () => {
  const server = await start({ plain: false, tokens: undefined });
  const token = server.adminToken === undefined ? "" : reveal(server.adminToken);
  const headers = { authorization: `Bearer ${token}` };
  const ca = server.certificateAuthority;
  const status = await new Promise<number>((resolve, reject) => {
    const request = httpsRequest(new URL("/version", server.url), { ca, headers }, (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    });
    request.on("error", reject).end();
  });
  expect(status).toBe(200);
  const session = connectHttp2(server.url, { ca: ca ?? "" });
  const body = await new Promise<string>((resolve, reject) => {
    const stream = session.request({ ":path": `${MAPS}?watch=1&timeoutSeconds=1&allowWatchBookmarks=1`, ...headers });
    let text = "";
    stream.setEncoding("utf8");
    stream.on("data", (chunk: string) => (text += chunk));
    stream.on("end", () => resolve(text)).on("error", reject);
  });
  expect(body).toContain("k8s.io/initial-events-end");
  session.close();
});

test("a request that is no HTTP, or breaks off, hurts nobody", async () => {
  const server = await start();
  const { port } = new URL(server.url);
  await new Promise<void>((resolve) => {
    const socket = connect(Number(port), "127.0.0.1", () => socket.end("nonsense\r\n\r\n"));
    socket.on("close", () => resolve()).on("error", () => resolve());
    socket.resume();
  });
  await new Promise<void>((resolve) => {
    const socket = connect(Number(port), "127.0.0.1", () => {
      socket.write(`POST ${MAPS} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer good\r\ncontent-length: 50\r\n\r\n{`, () => socket.destroy());
    });
    socket.on("close", () => resolve());
  });
  expect((await call(server, "/livez")).status).toBe(200);
});

test("what was kept in a folder is there after a restart", async () => {
  const dataDir = await mkdtemp(join(tmpdir(), "lattice-api-"));
  const first = await start({ dataDir });
  await call(first, MAPS, { method: "POST", body: '{"metadata":{"name":"kept"}}' });
  await first.close();
  running.delete(first);
  const second = await start({ dataDir });
  expect((await call(second, `${MAPS}/kept`)).status).toBe(200);
  const third = await startServer({ port: 0, plain: true, dataDir, clock: systemClock, random: Math.random });
  expect(third).toMatchObject({ ok: false, error: expect.stringContaining("has been using this folder") });
  await second.close();
  running.delete(second);
  await rm(dataDir, { recursive: true });
});

test("a start that cannot be is one sentence", async () => {
  expect(await startServer({ port: 0, plain: true, tokens: "x", clock: systemClock, random: Math.random })).toMatchObject({
    ok: false,
    error: expect.stringContaining("the token file: line 1"),
  });
  const server = await start();
  const taken = await startServer({ port: Number(new URL(server.url).port), plain: true, clock: systemClock, random: Math.random });
  expect(taken).toMatchObject({ ok: false, error: expect.stringContaining("cannot listen on 127.0.0.1:") });
});

test("the client of this project talks to it without a socket", async () => {
  const server = await start();
  const client = inProcessClient(server.api, { clock: systemClock, random: Math.random, logger: silentLogger });
  const configMaps = defineResource({ group: "", version: "v1", kind: "ConfigMap", plural: "configmaps", namespaced: true });
  const object = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "c", namespace: "default" } };
  expect(await client.create(configMaps, object)).toMatchObject({ ok: true, value: { metadata: { uid: expect.any(String) } } });
  expect(await client.list(configMaps, { namespace: "default" })).toMatchObject({
    ok: true,
    value: { items: [{ metadata: { name: "c" } }] },
  });
  const stop = new AbortController();
  for await (const event of client.watch(configMaps, { namespace: "default" }, stop.signal)) {
    expect(event).toMatchObject({ ok: true, value: { type: "ADDED" } });
    break;
  }
  stop.abort();
  expect(await client.raw("/healthz")).toEqual({ ok: true, value: "ok" });
  expect(await client.get(configMaps, { namespace: "default", name: "nope" })).toMatchObject({ ok: false, error: { kind: "not-found" } });
  await client.close();
});
