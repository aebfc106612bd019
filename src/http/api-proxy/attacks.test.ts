/**
 * Requests that try to reach another cluster, another server, or another client's response. The child is a server that records what arrives. During each of
 * them a request of a client of cluster b is open, and is answered after it.
 */
import { connect as connectHttp2 } from "node:http2";
import { connect as connectTls } from "node:tls";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { startProxy, targetOf, type ProxyWorld } from "../../../test/builders/api-proxy.ts";
import { authority, http1Server, stopAll, until } from "../../../test/builders/loopback-servers.ts";
import { connectTlsTo, untilClosed } from "../../../test/builders/sockets.ts";

let world: ProxyWorld;
let bystander: Promise<string>;
let answerBystander: () => void;
const arrived: { method: string | undefined; url: string | undefined; headers: Record<string, unknown>; body: string }[] = [];
beforeAll(async () => {
  const server = await http1Server((request, response) => {
    if (request.url === "/bystander") return void (answerBystander = () => response.end("served"));
    let body = "";
    request.on("data", (chunk: Buffer) => (body += chunk.toString()));
    request
      .on("error", () => {})
      .on("end", () => {
        arrived.push({ method: request.method, url: request.url, headers: request.headers, body });
        response.end("child");
      });
  });
  world = await startProxy(targetOf(server.port));
});
afterAll(async () => {
  await world.close();
  await stopAll();
});
beforeEach(async () => {
  arrived.splice(0);
  answerBystander = notArrived;
  const head = "GET /clusters/b/bystander HTTP/1.1\r\nhost: x\r\nconnection: close\r\nauthorization: Bearer token-of-b\r\n\r\n";
  bystander = untilClosed(connectTlsTo(world.proxy.port), head);
  await until(() => answerBystander !== notArrived);
});
afterEach(async () => {
  answerBystander();
  expect(await bystander).toMatch(/^HTTP\/1\.1 200[^]*served/);
});

const notArrived = () => {};

const TOKEN = "authorization: Bearer token-of-a\r\n";
const send = (text: string) => untilClosed(connectTlsTo(world.proxy.port), text);
const get = (target: string, headers = "") => send(`GET ${target} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n${TOKEN}${headers}\r\n`);
const codeOf = (received: string) => Number(/^HTTP\/1\.1 (\d+)/.exec(received)?.[1]);

test("a client with TLS 1.2 is refused", async () => {
  const socket = connectTls({ host: "127.0.0.1", port: world.proxy.port, ca: authority.certificate, maxVersion: "TLSv1.2" });
  const failure = await new Promise<string>((resolve) => {
    socket.once("error", ({ message }) => resolve(message)).once("secureConnect", () => resolve("connected"));
  });
  socket.destroy();
  expect(failure).toMatch(/protocol version/i);
});

describe("a path cannot leave its cluster", () => {
  test.each([
    { name: "dot segments", target: "/clusters/a/../b/api", code: 400 },
    { name: "encoded dot segments", target: "/clusters/a/%2e%2e/b/api", code: 400 },
    { name: "dot segments encoded twice", target: "/clusters/a/%252e%252e/b/api", code: 400 },
    { name: "dot segments with an encoded slash", target: "/clusters/a/..%2fb/api", code: 400 },
    { name: "dot segments with a backslash", target: "/clusters/a/..\\b/api", code: 400 },
    { name: "dot segments with an encoded backslash", target: "/clusters/a/..%5cb/api", code: 400 },
    { name: "a double slash", target: "/clusters/a//evil.test/api", code: 400 },
    { name: "a double slash in front", target: "//clusters/a/api", code: 400 },
    { name: "an encoded slash in the name", target: "/clusters/a%2f..%2fb/api", code: 400 },
    { name: "an encoded name", target: "/clusters/%61/api", code: 401 },
    { name: "a name with a user", target: "/clusters/a@b/api", code: 401 },
    { name: "a name with NUL", target: "/clusters/a%00/api", code: 400 },
    { name: "an absolute address", target: "https://evil.test/clusters/a/api", code: 400 },
    { name: "an absolute address of the metadata service", target: "http://169.254.169.254/latest", code: 400 },
    { name: "the options form", target: "*", code: 400 },
    { name: "an encoded line break", target: "/clusters/a/api%0d%0ax-evil:%201", code: 400 },
    { name: "a fragment", target: "/clusters/a/api#/../../b", code: 400 },
    { name: "the token of one cluster at another", target: "/clusters/b/api", code: 401 },
  ])("$name", async ({ target, code }) => {
    expect(codeOf(await get(target))).toBe(code);
    expect(arrived).toEqual([]);
  });

  test("over HTTP/2, with the authority of another server", async () => {
    const session = connectHttp2(world.url, { ca: authority.certificate });
    const status = (headers: Record<string, string>) =>
      new Promise((resolve) => {
        const stream = session.request({ authorization: "Bearer token-of-a", ...headers });
        stream.once("response", (head) => resolve(head[":status"])).on("error", resolve);
        stream.resume();
      });
    expect(await status({ ":path": "/clusters/a/../b/api" })).toBe(400);
    expect(await status({ ":path": "https://evil.test/" })).toBeInstanceOf(Error);
    expect(arrived).toEqual([]);
    expect(await status({ ":path": "/clusters/a/api", ":authority": "evil.test" })).toBe(200);
    expect(arrived[0]?.headers["host"]).toMatch(/^127\.0\.0\.1:/);
    session.destroy();
  });

  test("CONNECT and TRACE do not pass", async () => {
    expect(await send(`CONNECT evil.test:443 HTTP/1.1\r\nhost: x\r\n${TOKEN}\r\n`)).toBe("");
    expect(codeOf(await send(`TRACE /clusters/a/api HTTP/1.1\r\nhost: x\r\nconnection: close\r\n${TOKEN}\r\n`))).toBe(400);
    expect(arrived).toEqual([]);
  });
});

describe("a body cannot contain a second request", () => {
  const POST = `POST /clusters/a/api HTTP/1.1\r\nhost: x\r\n${TOKEN}`;
  const SMUGGLED = "GET /smuggled HTTP/1.1\r\nhost: x\r\n\r\n";
  test.each([
    { name: "a length and chunks", text: `${POST}content-length: 4\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n${SMUGGLED}` },
    { name: "chunks and a length", text: `${POST}transfer-encoding: chunked\r\ncontent-length: 4\r\n\r\n0\r\n\r\n${SMUGGLED}` },
    { name: "two lengths", text: `${POST}content-length: 0\r\ncontent-length: ${SMUGGLED.length}\r\n\r\n${SMUGGLED}` },
    { name: "a length with a sign", text: `${POST}content-length: +0\r\n\r\n${SMUGGLED}` },
    { name: "an unknown transfer encoding", text: `${POST}transfer-encoding: xchunked\r\n\r\n0\r\n\r\n${SMUGGLED}` },
    { name: "a space before the colon", text: `${POST}transfer-encoding : chunked\r\n\r\n0\r\n\r\n${SMUGGLED}` },
    { name: "a folded header", text: `${POST}x: y\r\n transfer-encoding: chunked\r\n\r\n0\r\n\r\n${SMUGGLED}` },
    { name: "a chunk size that is no number", text: `${POST}transfer-encoding: chunked\r\n\r\n0x0\r\n\r\n${SMUGGLED}` },
    { name: "a bare line feed in a header", text: `${POST}x: y\nhost: evil\r\n\r\n` },
  ])("$name", async ({ text }) => {
    const socket = connectTlsTo(world.proxy.port);
    const received = untilClosed(socket, text);
    const first = await Promise.race([received, new Promise<string>((resolve) => socket.once("data", (data) => resolve(String(data))))]);
    expect([400, 401, 404, 501]).toContain(codeOf(first));
    socket.destroy();
    await received;
    expect(arrived.filter(({ url }) => url === "/smuggled")).toEqual([]);
  });

  test("a pipelined request is authenticated on its own", async () => {
    const received = await send(
      `GET /clusters/a/api HTTP/1.1\r\nhost: x\r\n${TOKEN}\r\nGET /clusters/a/api HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n`,
    );
    expect(received.match(/HTTP\/1\.1 \d+/g)).toEqual(["HTTP/1.1 200", "HTTP/1.1 401"]);
  });

  test("a body that ends before its declared length does not arrive as a complete one", async () => {
    const socket = connectTlsTo(world.proxy.port);
    socket.on("error", () => {}).write(`${POST}content-length: 10\r\n\r\n{}`);
    await until(() => world.openTunnels.size === 2);
    socket.destroy();
    await until(() => world.openTunnels.size === 1); // of the other client
    expect(arrived).toEqual([]);
  });

  test("a body of HTTP/2 that is reset does not arrive as a complete one", async () => {
    const session = connectHttp2(world.url, { ca: authority.certificate });
    const stream = session.request({ ":path": "/clusters/a/api", ":method": "POST", authorization: "Bearer token-of-a" });
    stream.on("error", () => {}).write("{}");
    await until(() => world.openTunnels.size === 2);
    stream.close(8);
    await until(() => world.openTunnels.size === 1); // of the other client
    expect(arrived).toEqual([]);
    session.destroy();
  });
});

describe("headers", () => {
  test("of identity and of the connection do not arrive", async () => {
    const headers = [
      "impersonate-user: admin",
      "Impersonate-Group: system:masters",
      "x-remote-user: admin",
      "x-forwarded-for: 10.0.0.1",
      "X-Forwarded-Host: evil",
      "forwarded: for=1",
      "cookie: a=b",
      "connection: x-nominated",
      "x-nominated: 1",
      "te: trailers",
      "proxy-authorization: Basic eDp5",
      "x-kept: 1",
    ];
    expect(codeOf(await get("/clusters/a/api", `${headers.join("\r\n")}\r\n`))).toBe(200);
    expect(Object.keys(arrived[0]?.headers ?? {}).toSorted()).toEqual(["authorization", "connection", "host", "x-kept"]);
    expect(arrived[0]?.headers["authorization"]).toBe("Bearer agent");
  });

  test("nominating the length of a body does not change where it ends", async () => {
    const text = `POST /clusters/a/api HTTP/1.1\r\nhost: x\r\nconnection: close, content-length\r\n${TOKEN}content-length: 2\r\n\r\n{}`;
    expect(codeOf(await send(text))).toBe(200);
    expect(arrived).toMatchObject([{ body: "{}", headers: { "transfer-encoding": "chunked" } }]);
  });

  test("that are too large or too many are refused", async () => {
    // the connection is closed while the client is sending: it may not see the response
    expect(await get("/clusters/a/api", `x: ${"y".repeat(70_000)}\r\n`)).toMatch(/^(HTTP\/1\.1 431 |$)/);
    expect(codeOf(await get("/clusters/a/api", Array.from({ length: 200 }, (_, at) => `x${at}: y\r\n`).join("")))).toBe(400);
    expect(codeOf(await get(`/clusters/a/${"a".repeat(40_000)}`))).toBe(400);
    expect(arrived).toEqual([]);
  });

  test.each(["Bearer  token-of-a", "Bearer token-of-a x", "bearer", "Bearer token-of-a, Bearer x", `Bearer ${"a".repeat(5_000)}`])(
    "the credential %s is not one",
    async (value) => {
      const received = await send(`GET /clusters/a/api HTTP/1.1\r\nhost: x\r\nconnection: close\r\nauthorization: ${value}\r\n\r\n`);
      expect(codeOf(received)).toBe(401);
    },
  );
});
