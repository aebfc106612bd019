import { Buffer } from "node:buffer";
import { mkdtemp, rm, stat, writeFile } from "node:fs/promises";
import { request as httpRequest, type ClientRequest, type IncomingMessage } from "node:http";
import { connect as connectHttp2 } from "node:http2";
import { request as httpsRequest } from "node:https";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text as textOf } from "node:stream/consumers";
import { afterEach, expect, test } from "vitest";
import { err, expectOk, reveal, silentLogger, systemClock } from "#base";
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
    await startServer({
      port: 0,
      plain: true,
      tokens: 'good,admin,u1,"system:masters"\nsmall,alice,u2,"devs"',
      clock: systemClock,
      random: Math.random,
      ...options,
    }),
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

test.each(["plain", "grüße, 世界"])("a long list arrives whole, in one JSON text: %s", async (word) => {
  const server = await start();
  const names = Array.from({ length: 40 }, (_, at) => `map-${String(at).padStart(2, "0")}`);
  const value = word.repeat(1_000);
  for (const name of names) await call(server, MAPS, { method: "POST", body: JSON.stringify({ metadata: { name }, data: { value } }) });
  const answered = await call(server, MAPS, { headers: { "accept-encoding": "identity" } });
  const text = await answered.text();
  const { items } = JSON.parse(text) as { items: readonly { metadata: { name: string }; data: object }[] };
  expect(Number(answered.headers.get("content-length"))).toBe(Buffer.byteLength(text));
  expect(items.map(({ metadata }) => metadata.name)).toEqual(names);
  expect(items.every(({ data }) => JSON.stringify(data) === JSON.stringify({ value }))).toBe(true);
});

test("a bad token is a 401, whatever is asked", async () => {
  const server = await start();
  for (const path of [MAPS, "/version"]) {
    const refused = await call(server, path, {}, "bad");
    expect(refused.status).toBe(401);
    expect(await refused.json()).toMatchObject({ kind: "Status", message: "Unauthorized", reason: "Unauthorized", code: 401 });
  }
});

test.each([
  { name: "no token", headers: {} },
  { name: "another scheme", headers: { authorization: "Basic eDp5" } },
  { name: "a scheme without a token", headers: { authorization: "Bearer" } },
])("with $name one is nobody, and may only know that the server is there", async ({ headers }) => {
  const server = await start();
  const get = (path: string) => fetch(`${server.url}${path}`, { headers: headers as Record<string, string> });
  for (const path of ["/version", "/healthz", "/livez", "/readyz"]) expect((await get(path)).status).toBe(200);
  expect(await (await get(MAPS)).json()).toMatchObject({
    code: 403,
    message: expect.stringContaining('User "system:anonymous" cannot list resource "configmaps"'),
  });
});

test("a token behind two spaces is overlooked, and the answer says so", async () => {
  const server = await start();
  const answered = await fetch(`${server.url}/version`, { headers: { authorization: "Bearer  good" } });
  expect(answered.status).toBe(200);
  expect(answered.headers.get("warning")).toContain("contains extra space before the bearer token, and is ignored");
});

test("who may not write is told so before his body has come", async () => {
  const server = await start();
  const { port } = new URL(server.url);
  const socket = connect(Number(port), "127.0.0.1");
  socket.write(`POST ${MAPS} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer small\r\ncontent-length: 1000\r\n\r\n`);
  const said = await new Promise<string>((resolve) => socket.once("data", (chunk: Buffer) => resolve(chunk.toString())));
  socket.destroy();
  expect(said).toMatch(/^HTTP\/1\.1 403 /);
});

test("each header of impersonation counts by itself", async () => {
  const server = await start();
  const headers = new Headers({ authorization: "Bearer good", "content-type": "application/json", "impersonate-user": "zoe" });
  const answered = await new Promise<string>((resolve, reject) => {
    const url = new URL("/apis/authentication.k8s.io/v1/selfsubjectreviews", server.url);
    const sent = httpRequest(url, { method: "POST", headers: { ...Object.fromEntries(headers), "impersonate-group": ["a", "b, c"] } });
    sent.on("response", (response) => {
      let text = "";
      response.on("data", (chunk: Buffer) => (text += chunk.toString())).on("end", () => resolve(text));
    });
    sent.on("error", reject);
    sent.end("{}");
  });
  expect(JSON.parse(answered)).toMatchObject({ status: { userInfo: { username: "zoe", groups: ["a", "b, c", "system:authenticated"] } } });
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

test.each(["application/json", "application/yaml", "application/json;as=Table;v=v1;g=meta.k8s.io"])(
  "a list of several megabytes is sent while it is made, and is the same text: %s",
  async (accept) => {
    const server = await start();
    const value = "grüße ".repeat(20_000);
    for (let at = 0; at < 40; at += 1)
      await call(server, MAPS, { method: "POST", body: JSON.stringify({ metadata: { name: `map-${at}`, annotations: { value } } }) });
    const answered = await call(server, `${MAPS}?includeObject=Object`, { headers: { accept } });
    const text = await answered.text();
    expect(answered.headers.get("content-length")).toBeNull();
    expect(text.length).toBeGreaterThan(4_000_000);
    if (accept.includes("yaml")) expect(text.startsWith("apiVersion: v1\nitems:\n- ")).toBe(true);
    else expect(Object.keys(JSON.parse(text) as object)).toHaveLength(accept.includes("Table") ? 5 : 4);
  },
);

test("a watch over a socket brings one small event after the other", async () => {
  const server = await start();
  const watching = await call(server, `${MAPS}?watch=1`);
  const names: string[] = [];
  let next = 0;
  const create = () => call(server, MAPS, { method: "POST", body: JSON.stringify({ metadata: { name: `map-${next++}` } }) });
  await create();
  for await (const chunk of watching.body ?? []) {
    for (const [, name = ""] of new TextDecoder().decode(chunk).matchAll(/"name":"(map-\d)"/g)) names.push(name);
    if (next === 5) break;
    await create();
  }
  expect(names.slice(0, 4)).toEqual(["map-0", "map-1", "map-2", "map-3"]);
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

test("a client certificate of the server's own authority tells who somebody is, on both versions of HTTP", async () => {
  const server = await start({ plain: false });
  const ca = server.certificateAuthority ?? "";
  const { certificate, key } = expectOk(server.issueClientCertificate?.({ name: "carol", groups: ["qa", "devs"] }) ?? err("no authority"));
  const identity = { cert: certificate, key: reveal(key), ca };
  const url = new URL("/apis/authentication.k8s.io/v1/selfsubjectreviews", server.url);
  const want = {
    username: "carol",
    groups: ["qa", "devs", "system:authenticated"],
    extra: { "authentication.kubernetes.io/credential-id": [expect.stringMatching(/^X509SHA256=[0-9a-f]{64}$/)] },
  };
  const headers = { "content-type": "application/json" };
  // a certificate comes before a token, however bad that is
  const sent = httpsRequest(url, { method: "POST", headers: { ...headers, authorization: "Bearer bad" }, ...identity }).end("{}");
  expect(await answerOfRequest(sent)).toMatchObject({ status: { userInfo: want } });
  const session = connectHttp2(server.url, identity);
  for (let twice = 0; twice < 2; twice += 1) {
    const stream = session.request({ ...headers, ":method": "POST", ":path": url.pathname });
    stream.end("{}");
    expect(JSON.parse(await textOf(stream))).toMatchObject({ status: { userInfo: want } });
  }
  session.close();
  const admin = expectOk(server.issueClientCertificate?.({ name: "root" }) ?? err("no authority"));
  const asAdmin = httpsRequest(new URL("/api/v1/nodes", server.url), { cert: admin.certificate, key: reveal(admin.key), ca }).end();
  expect(await answerOfRequest(asAdmin)).toMatchObject({ kind: "NodeList" });
});

test("a certificate of somebody else's authority is a 401, and no certificate is fine", async () => {
  const server = await start({ plain: false });
  const other = await start({ plain: false });
  const ca = server.certificateAuthority ?? "";
  const foreign = expectOk(other.issueClientCertificate?.({ name: "carol" }) ?? err("no authority"));
  const get = (identity: object) => httpsRequest(new URL("/version", server.url), { ca, ...identity }).end();
  expect(await answerOfRequest(get({ cert: foreign.certificate, key: reveal(foreign.key) }))).toMatchObject({ code: 401 });
  expect(await answerOfRequest(get({}))).toMatchObject({ major: "1" });
});

test("tokens of ServiceAccounts outlive a restart, and their key is for its owner alone", async () => {
  const dataDir = await mkdtemp(join(tmpdir(), "lattice-api-"));
  const first = await start({ dataDir });
  const accounts = "/api/v1/namespaces/default/serviceaccounts";
  await call(first, accounts, { method: "POST", body: '{"metadata":{"name":"robot"}}' });
  const issued = (await (await call(first, `${accounts}/robot/token`, { method: "POST", body: "{}" })).json()) as {
    status: { token: string };
  };
  await first.close();
  running.delete(first);
  const file = join(dataDir, "service-account.key");
  expect((await stat(file)).mode & 0o777).toBe(0o600);
  const second = await start({ dataDir });
  expect((await call(second, "/version", {}, issued.status.token)).status).toBe(200);
  await second.close();
  running.delete(second);
  await writeFile(file, "not a key");
  const third = await startServer({ port: 0, plain: true, dataDir, clock: systemClock, random: Math.random });
  expect(third).toMatchObject({ ok: false, error: expect.stringMatching(/^the key of ServiceAccount tokens, .*not readable PEM$/) });
  await rm(dataDir, { recursive: true });
});

async function answerOfRequest(sent: ClientRequest): Promise<unknown> {
  const response = await new Promise<IncomingMessage>((resolve, reject) => sent.on("response", resolve).on("error", reject));
  return JSON.parse(await textOf(response));
}

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
