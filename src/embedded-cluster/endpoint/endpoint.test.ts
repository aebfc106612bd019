/** The cluster over HTTP. */
import { Buffer } from "node:buffer";
import { mkdtemp, rm, stat, writeFile } from "node:fs/promises";
import { request as httpRequest } from "node:http";
import { connect as connectHttp2 } from "node:http2";
import { request as httpsRequest } from "node:https";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { serveCluster, type ServedCluster, type ServedClusterOptions } from "../../../test/builders/api-server/served-cluster.ts";

const MAPS = "/api/v1/namespaces/default/configmaps";
const TOKENS = 'good,admin,u1,"system:masters"\nsmall,alice,u2,"devs"';
const running = new Set<ServedCluster>();

afterEach(async () => {
  for (const server of running) await server.close();
  running.clear();
});

async function start(options: ServedClusterOptions = {}): Promise<ServedCluster> {
  const server = await serveCluster({ tokens: TOKENS, random: Math.random, ...options });
  running.add(server);
  return server;
}

async function stop(server: ServedCluster): Promise<void> {
  running.delete(server);
  await server.close();
}

const call = (server: ServedCluster, path: string, init: RequestInit = {}, token = "good") =>
  fetch(`${server.url}${path}`, {
    ...init,
    headers: {
      authorization: `Bearer ${token}`,
      "content-type": "application/json",
      ...(init.headers as Record<string, string> | undefined),
    },
  });

test("a response over HTTP has its warnings, and is one line of JSON", async () => {
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

test.each(["plain", "grüße, 世界"])("a long list is one complete JSON text: %s", async (sample) => {
  const server = await start();
  const names = Array.from({ length: 40 }, (_, at) => `map-${String(at).padStart(2, "0")}`);
  const value = sample.repeat(1_000);
  for (const name of names) await call(server, MAPS, { method: "POST", body: JSON.stringify({ metadata: { name }, data: { value } }) });
  const answered = await call(server, MAPS, { headers: { "accept-encoding": "identity" } });
  const text = await answered.text();
  const { items } = JSON.parse(text) as { items: readonly { metadata: { name: string }; data: object }[] };
  // a list that takes more than one turn of the event loop is sent in chunks, without its length
  expect([null, String(Buffer.byteLength(text))]).toContain(answered.headers.get("content-length"));
  expect(items.map(({ metadata }) => metadata.name)).toEqual(names);
  expect(items.every(({ data }) => JSON.stringify(data) === JSON.stringify({ value }))).toBe(true);
});

test("an invalid token gets 401 on every path", async () => {
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
])("with $name the caller is anonymous, and sees only the version and the health checks", async ({ headers }) => {
  const server = await start();
  const get = (path: string) => fetch(`${server.url}${path}`, { headers: headers as Record<string, string> });
  for (const path of ["/version", "/healthz", "/livez", "/readyz"]) expect((await get(path)).status).toBe(200);
  expect(await (await get(MAPS)).json()).toMatchObject({
    code: 403,
    message: expect.stringContaining('User "system:anonymous" cannot list resource "configmaps"'),
  });
});

test("a token behind two spaces is ignored with a warning", async () => {
  const server = await start();
  const answered = await fetch(`${server.url}/version`, { headers: { authorization: "Bearer  good" } });
  expect(answered.status).toBe(200);
  expect(answered.headers.get("warning")).toContain("contains extra space before the bearer token, and is ignored");
});

test("a write that is not allowed is refused before its body has arrived", async () => {
  const server = await start();
  const { port } = new URL(server.url);
  const socket = connect(Number(port), "127.0.0.1");
  socket.write(`POST ${MAPS} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer small\r\ncontent-length: 1000\r\n\r\n`);
  const response = await new Promise<string>((resolve) => socket.once("data", (chunk: Buffer) => resolve(chunk.toString())));
  socket.destroy();
  expect(response).toMatch(/^HTTP\/1\.1 403 /);
});

test("repeated impersonation headers are separate values", async () => {
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

test("a body that is too large gets 413, with or without a content-length", async () => {
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

test("a watch over HTTP sends its headers at once, then events as they happen, and ends with the server", async () => {
  const server = await start();
  const watching = await call(server, `${MAPS}?watch=1&resourceVersion=0`);
  expect(watching.status).toBe(200);
  await call(server, MAPS, { method: "POST", body: '{"metadata":{"name":"a"}}' });
  const reader = watching.body?.getReader();
  const first = await reader?.read();
  expect(Buffer.from(first?.value ?? []).toString()).toMatch(/^\{"type":"ADDED"/);
  await stop(server);
  const end = await (reader?.read() ?? Promise.resolve(undefined)).then(
    (read) => read?.done,
    () => true,
  );
  expect(end).toBe(true);
});

test("the server responds after a client has closed its watch", async () => {
  const server = await start();
  const leaving = new AbortController();
  await call(server, `${MAPS}?watch=1`, { signal: leaving.signal });
  leaving.abort();
  expect((await call(server, "/livez")).status).toBe(200);
});

test.each(["application/json", "application/yaml", "application/json;as=Table;v=v1;g=meta.k8s.io"])(
  "a list of several megabytes is sent while it is built, and is the same text: %s",
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

test("a watch over a socket delivers small events one after the other", async () => {
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

test("TLS serves HTTP/1.1 and HTTP/2 with a certificate of the cluster's authority", async () => {
  const server = await start({ secure: true });
  const headers = { authorization: "Bearer good" };
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

test("tokens of ServiceAccounts are valid after a restart, and only the owner can read their key", async () => {
  const dataDir = await mkdtemp(join(tmpdir(), "lattice-api-"));
  const first = await start({ dataDir });
  const accounts = "/api/v1/namespaces/default/serviceaccounts";
  await call(first, accounts, { method: "POST", body: '{"metadata":{"name":"robot"}}' });
  const issued = (await (await call(first, `${accounts}/robot/token`, { method: "POST", body: "{}" })).json()) as {
    status: { token: string };
  };
  await stop(first);
  const file = join(dataDir, "service-account.key");
  expect((await stat(file)).mode & 0o777).toBe(0o600);
  const second = await start({ dataDir });
  expect((await call(second, "/version", {}, issued.status.token)).status).toBe(200);
  await stop(second);
  await writeFile(file, "not a key");
  await expect(start({ dataDir })).rejects.toThrow(/^the key of ServiceAccount tokens, .*not readable PEM$/);
  await rm(dataDir, { recursive: true });
});

test("the server responds after a request that is not HTTP, and after an incomplete one", async () => {
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

test("objects in a data folder exist after a restart", async () => {
  const dataDir = await mkdtemp(join(tmpdir(), "lattice-api-"));
  const first = await start({ dataDir });
  await call(first, MAPS, { method: "POST", body: '{"metadata":{"name":"kept"}}' });
  await stop(first);
  const second = await start({ dataDir });
  expect((await call(second, `${MAPS}/kept`)).status).toBe(200);
  await expect(start({ dataDir })).rejects.toThrow("has been using this folder");
  await stop(second);
  await rm(dataDir, { recursive: true });
});

test("a start that fails is an error of one sentence", async () => {
  await expect(start({ tokens: "x" })).rejects.toThrow("the token file: line 1");
  const server = await start();
  await expect(start({ port: Number(new URL(server.url).port) })).rejects.toThrow("cannot listen on 127.0.0.1:");
});
