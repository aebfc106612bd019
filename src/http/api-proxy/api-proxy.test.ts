/** Which response a client gets, and what is logged about it. */
import { request as httpsRequest, type RequestOptions } from "node:https";
import { connect as connectHttp2 } from "node:http2";
import type { IncomingHttpHeaders, RequestListener } from "node:http";
import { afterEach, describe, expect, test } from "vitest";
import { err, expectOk, FakeClock, MetricsRegistry, sensitive, silentLogger, systemClock } from "#base";
import { startApiProxy, type ApiProxyOptions } from "#http";
import { startProxy, targetOf, type ProxyWorld } from "../../../test/builders/api-proxy.ts";
import { authority, http1Server, issue, newAuthority, stopAll, until } from "../../../test/builders/loopback-servers.ts";

let world: ProxyWorld | undefined;
afterEach(async () => {
  await world?.close();
  await stopAll();
});

const echo: RequestListener = (request, response) => void request.pipe(response);

async function open(handler: RequestListener = echo, options: Partial<ApiProxyOptions> = {}): Promise<ProxyWorld> {
  return (world = await startProxy(targetOf((await http1Server(handler)).port), options));
}

type Answer = { readonly status: number; readonly headers: IncomingHttpHeaders; readonly text: string };

function call(
  { url }: ProxyWorld,
  path: string,
  options: RequestOptions & { token?: string; body?: string | Buffer } = {},
): Promise<Answer> {
  const { token = "token-of-a", body, ...rest } = options;
  const headers = {
    ...(token === "" ? {} : { authorization: `Bearer ${token}` }),
    ...(rest.headers as Record<string, string> | undefined),
  };
  return new Promise((resolve, reject) => {
    const request = httpsRequest(`${url}${path}`, { ca: authority.certificate, agent: false, ...rest, headers }, (response) => {
      let text = "";
      response.setEncoding("utf8").on("data", (piece: string) => (text += piece));
      response.on("end", () => resolve({ status: response.statusCode ?? 0, headers: response.headers, text })).on("error", reject);
    });
    request.on("error", reject).end(body);
  });
}

const statusOf = ({ text }: Answer): unknown => JSON.parse(text);

describe("the proxy", () => {
  test.each([
    { path: "/clusters/a", seen: "/" },
    { path: "/clusters/a/", seen: "/" },
    { path: "/clusters/a?x=1", seen: "/?x=1" },
    { path: "/clusters/a/api/v1/pods?watch=1", seen: "/api/v1/pods?watch=1" },
    { path: "/clusters/a/clusters/b/api", seen: "/clusters/b/api" },
  ])("forwards $path as $seen", async ({ path, seen }) => {
    const { status, text } = await call(await open((request, response) => void response.end(request.url)), path);
    expect([status, text]).toEqual([200, seen]);
  });

  test("answers 401 alike for no token, a wrong one, another cluster's, and an unknown cluster", async () => {
    const proxy = await open();
    const answers = [
      await call(proxy, "/clusters/a/api", { token: "" }),
      await call(proxy, "/clusters/a/api", { token: "wrong" }),
      await call(proxy, "/clusters/a/api", { token: "token-of-b" }),
      await call(proxy, "/clusters/unknown/api"),
      await call(proxy, "/clusters/NOT_A_NAME/api"),
      await call(proxy, "/clusters/a/api", { token: "", headers: { authorization: "Basic eDp5" } }),
    ];
    const [first] = answers;
    expect(first && statusOf(first)).toEqual({
      kind: "Status",
      apiVersion: "v1",
      metadata: {},
      status: "Failure",
      message: "Unauthorized",
      reason: "Unauthorized",
      code: 401,
    });
    const comparable = answers.map(({ status, headers, text }) => ({ status, headers: { ...headers, date: "" }, text }));
    for (const answer of comparable) expect(answer).toEqual(comparable[0]);
    expect(proxy.pairs).toEqual([]);
  });

  test("answers 503 with Retry-After when the child is not connected", async () => {
    const answer = await call(await open(), "/clusters/absent/api", { token: "token-of-absent" });
    expect(answer).toMatchObject({ status: 503, headers: { "retry-after": "5" } });
    expect(statusOf(answer)).toMatchObject({
      reason: "ServiceUnavailable",
      message: "the cluster is not connected: no agent",
      details: { retryAfterSeconds: 5 },
    });
  });

  test.each(["/", "/clusters", "/clusters/", "/api/v1/pods", "/clustersa/x", "/healthz"])("answers 404 for %s", async (path) => {
    const answer = await call(await open(), path);
    expect(statusOf(answer)).toMatchObject({ kind: "Status", reason: "NotFound", code: 404 });
  });

  test("answers 503 without Retry-After when the tunnel fails: the request may have had an effect", async () => {
    const answer = await call(await open((request) => void request.socket.destroy()), "/clusters/a/api", { method: "POST", body: "{}" });
    expect(answer.status).toBe(503);
    expect(answer.headers["retry-after"]).toBeUndefined();
    expect(statusOf(answer)).toMatchObject({ message: "The API server cannot be reached (ECONNRESET)." });
  });

  test("answers 504 when no response comes in time", async () => {
    const clock = new FakeClock();
    let isReached = false;
    const proxy = await open(() => (isReached = true), { clock });
    const answer = call(proxy, "/clusters/a/api");
    await until(() => isReached);
    await clock.advance(120_000);
    expect(await answer).toMatchObject({ status: 504 });
    await until(() => proxy.openTunnels.size === 0);
  });

  test("answers 500 when the token cannot be checked", async () => {
    expect(await call(await open(echo, { authenticate: () => Promise.reject(new Error("secret detail")) }), "/clusters/a/")).toMatchObject({
      status: 500,
      text: expect.not.stringContaining("secret detail") as string,
    });
    await world?.close();
    const throwing = () => {
      throw new Error("secret detail");
    };
    expect(await call(await open(echo, { authenticate: throwing }), "/clusters/a/")).toMatchObject({ status: 500 });
  });

  test("answers 429 with Retry-After beyond the open requests of one cluster, and others are not affected", async () => {
    const held: (() => void)[] = [];
    const proxy = await open((request, response) => void (request.url === "/hold" ? held.push(() => response.end()) : response.end()), {
      requestsPerCluster: 2,
    });
    const first = [call(proxy, "/clusters/a/hold"), call(proxy, "/clusters/a/hold")];
    await until(() => held.length === 2);
    expect(proxy.metrics.render()).toContain('lattice_api_proxy_open_requests{cluster="a"} 2');
    expect(await call(proxy, "/clusters/a/")).toMatchObject({ status: 429, headers: { "retry-after": "1" } });
    expect(await call(proxy, "/clusters/b/", { token: "token-of-b" })).toMatchObject({ status: 200 });
    for (const release of held) release();
    expect((await Promise.all(first)).map(({ status }) => status)).toEqual([200, 200]);
    expect(await call(proxy, "/clusters/a/")).toMatchObject({ status: 200 });
    expect(proxy.metrics.render()).not.toContain("open_requests{");
  });

  test("answers 413 to a body that is too large, with and without a declared length", async () => {
    const proxy = await open(
      (request, response) =>
        void request
          .resume()
          .on("error", () => {})
          .on("end", () => response.end("whole")),
      { limits: { bodyBytes: 100_000 } },
    );
    const body = Buffer.alloc(100_001);
    expect(await call(proxy, "/clusters/a/", { method: "POST", body, headers: { "content-length": "100001" } })).toMatchObject({
      status: 413,
    });
    expect(await call(proxy, "/clusters/a/", { method: "POST", body, headers: { "transfer-encoding": "chunked" } })).toMatchObject({
      status: 413,
    });
    expect(await call(proxy, "/clusters/a/", { method: "POST", body: body.subarray(1) })).toMatchObject({ status: 200, text: "whole" });
    await until(() => proxy.openTunnels.size === 0);
  });

  test("answers 408 to a body that does not arrive, on HTTP/2 too", async () => {
    const clock = new FakeClock();
    const proxy = await open(echo, { clock, limits: { requestMs: 20_000 } });
    const session = connectHttp2(proxy.url, { ca: authority.certificate });
    const stream = session.request({ ":path": "/clusters/a/", ":method": "POST", authorization: "Bearer token-of-a" });
    const status = new Promise((resolve) => stream.once("response", (head) => resolve(head[":status"])));
    stream.on("error", () => {});
    await until(() => proxy.pairs.length === 1);
    for (let wait = 0; wait < 20; wait += 1) await new Promise((resolve) => setImmediate(resolve));
    await clock.advance(20_000);
    expect(await status).toBe(408);
    session.destroy();
  });

  test("breaks off when the response breaks off", async () => {
    const proxy = await open((_request, response) => {
      response.write("part");
      setImmediate(() => response.destroy());
    });
    await expect(call(proxy, "/clusters/a/")).rejects.toThrow();
    await until(() => proxy.audit.length === 1);
  });

  test("ends the tunnel of a client that disconnects", async () => {
    let isOpen = false;
    const proxy = await open((_request, response) => {
      isOpen = true;
      response.once("close", () => (isOpen = false)).write("first");
    });
    const request = httpsRequest(`${proxy.url}/clusters/a/?watch=1`, {
      ca: authority.certificate,
      headers: { authorization: "Bearer token-of-a" },
    });
    request.on("error", () => {}).end();
    await new Promise((resolve) => request.once("response", resolve));
    request.destroy();
    await until(() => !isOpen && proxy.openTunnels.size === 0);
  });

  test("a client that disconnects before the response is logged with 499", async () => {
    let isOpen = false;
    const proxy = await open(() => (isOpen = true));
    const request = httpsRequest(`${proxy.url}/clusters/a/`, {
      ca: authority.certificate,
      headers: { authorization: "Bearer token-of-a" },
    });
    request.on("error", () => {}).end();
    await until(() => isOpen);
    request.destroy();
    await until(() => proxy.audit.length === 1);
    expect(proxy.audit[0]).toMatchObject({ cluster: "a", status: 499 });
  });

  test("close ends open watches and their tunnels", async () => {
    const proxy = await open((_request, response) => void response.write("first"));
    const request = httpsRequest(`${proxy.url}/clusters/a/`, {
      ca: authority.certificate,
      headers: { authorization: "Bearer token-of-a" },
    });
    const closed = new Promise((resolve) => request.on("error", () => {}).once("close", resolve));
    request.end();
    await new Promise((resolve) => request.once("response", (response) => resolve(response.on("error", () => {}))));
    await proxy.proxy.close();
    await closed;
    await until(() => proxy.openTunnels.size === 0);
  });

  test("a tunnel that cannot be opened because of a bug ends that request only", async () => {
    const proxy = await open(echo, { openTunnel: () => Promise.reject(new Error("bug")), requestsPerCluster: 1 });
    await expect(call(proxy, "/clusters/a/")).rejects.toThrow();
    await expect(call(proxy, "/clusters/a/")).rejects.toThrow();
    expect(await call(proxy, "/clusters/unknown/")).toMatchObject({ status: 401 });
  });

  test("a new certificate is used by new connections", async () => {
    const proxy = await open();
    const other = newAuthority("next");
    expectOk(proxy.proxy.reloadTls(issue(other, "server", "server")));
    await expect(call(proxy, "/clusters/a/")).rejects.toThrow();
    expect(await call(proxy, "/clusters/a/", { ca: other.certificate })).toMatchObject({ status: 200 });
    expect(proxy.proxy.reloadTls({ certificate: "?", key: sensitive("?") })).toMatchObject({ ok: false });
  });

  test("an address in use is an error with the address", async () => {
    const { proxy } = await open();
    const second = await startApiProxy({
      host: "127.0.0.1",
      port: proxy.port,
      tls: issue(authority, "server", "server"),
      authenticate: () => true,
      openTunnel: async () => err({ kind: "refused", message: "" }),
      clock: systemClock,
      logger: silentLogger,
      metrics: new MetricsRegistry(),
    });
    expect(second).toMatchObject({
      ok: false,
      error: expect.stringContaining(`cannot listen on 127.0.0.1:${proxy.port} for the API proxy`) as string,
    });
  });
});

test("each request is one log line and one count, without tokens and secret values", async () => {
  const proxy = await open();
  await call(proxy, "/clusters/a/api/v1/pods/x/exec?command=s3cret&watch=true&limit=5&x");
  await call(proxy, "/clusters/b/api?token=s3cret");
  await call(proxy, "/clusters/a//x");
  expect(proxy.audit).toEqual([
    {
      cluster: "a",
      method: "GET",
      path: "/api/v1/pods/x/exec?command=***&watch=true&limit=5&x",
      status: 200,
      ms: expect.any(Number) as number,
    },
    { method: "GET", path: "/api?token=***", status: 401, ms: expect.any(Number) as number },
    { method: "GET", path: "", status: 400, ms: expect.any(Number) as number },
  ]);
  expect(JSON.stringify(proxy.audit)).not.toMatch(/s3cret|token-of/);
  expect(proxy.metrics.render()).toContain('lattice_api_proxy_requests_total{cluster="a",code="200"} 1');
  expect(proxy.metrics.render()).toContain('lattice_api_proxy_requests_total{cluster="",code="401"} 1');
});
