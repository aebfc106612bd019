import { afterEach, describe, expect, test } from "vitest";
import { err, expectOk, FakeClock, sensitive, systemClock, type Clock } from "#base";
import { parseServerUrl, staticCredentials, type ClusterConfig } from "../cluster-config.ts";
import type { Transport, TransportRequest } from "../transport.ts";
import { httpTransport } from "./http-transport.ts";
import {
  authority,
  clientIdentity,
  configFor,
  cuttableProxy,
  http1Server,
  http2Server,
  issue,
  newAuthority,
  plainServer,
  stopAll,
  echo,
  readResponse,
  stalls,
  until,
  type Http2Handler,
} from "../../../test/builders/loopback-servers.ts";

const transports: Transport[] = [];
const live = new AbortController().signal;
const get = (path: string): TransportRequest => ({ method: "GET", path, headers: { accept: "application/json" } });

function open(config: ClusterConfig, clock: Clock = systemClock): Transport {
  const transport = httpTransport(config, { clock, pingIntervalMs: 30_000, pingTimeoutMs: 15_000 });
  transports.push(transport);
  return transport;
}

afterEach(async () => {
  await Promise.all(transports.splice(0).map((transport) => transport.close()));
  await stopAll();
});

const plainEcho = echo as unknown as Parameters<typeof plainServer>[0];

describe("on every kind of server", () => {
  const kinds = [
    { name: "HTTP/2", start: () => http2Server(echo), config: (port: number) => configFor(port) },
    { name: "HTTP/1.1 over TLS", start: () => http1Server(plainEcho), config: (port: number) => configFor(port) },
    {
      name: "plain HTTP on loopback",
      start: () => plainServer(plainEcho),
      config: (port: number) => configFor(port, { server: expectOk(parseServerUrl(`http://127.0.0.1:${port}`)) }),
    },
  ];

  test.each(kinds)("$name: method, path, headers and body arrive", async ({ start, config }) => {
    const server = await start();
    const extra = new Map([["Example.org/scopes", ["a", "b"]]]);
    const transport = open({
      ...config(server.port),
      credentials: staticCredentials({ token: sensitive("t0ken") }),
      impersonate: { user: "bob", uid: "7", groups: ["g1", "g2"], extra },
    });
    const request: TransportRequest = {
      method: "POST",
      path: "/x?y=%20z",
      headers: { "content-type": "application/json" },
      body: '{"ä":1}',
    };
    const { code, text } = await readResponse(await transport.send(request, live));
    const seen = JSON.parse(text) as { headers: Record<string, string>; body: string };
    expect(code).toBe(200);
    expect(seen).toMatchObject({ method: "POST", url: "/x?y=%20z", body: '{"ä":1}' });
    expect(seen.headers).toMatchObject({
      "user-agent": "lattice",
      authorization: "Bearer t0ken",
      "content-type": "application/json",
      "impersonate-user": "bob",
      "impersonate-uid": "7",
      "impersonate-group": "g1, g2",
      "impersonate-extra-example.org%2fscopes": "a, b",
    });
  });

  test.each(kinds)("$name: calls one after the other share a connection", async ({ name, start, config }) => {
    const server = await start();
    const transport = open(config(server.port));
    for (let call = 0; call < 20; call += 1) expect((await readResponse(await transport.send(get("/"), live))).code).toBe(200);
    // over TLS the first connection detects that the server has no HTTP/2
    expect(server.connections).toBe(name === "HTTP/1.1 over TLS" ? 2 : 1);
  });

  test.each(kinds)("$name: a path in the server's address prefixes every request", async ({ start, config }) => {
    const server = await start();
    const base = config(server.port);
    const transport = open({ ...base, server: expectOk(parseServerUrl(`${base.server}/k8s/clusters/c-1/`)) });
    expect((await readResponse(await transport.send(get("/api"), live))).text).toContain('"url":"/k8s/clusters/c-1/api"');
  });

  test.each(kinds)("$name: close ends the connections and later calls", async ({ start, config }) => {
    const server = await start();
    const transport = open(config(server.port));
    await readResponse(await transport.send(get("/"), live));
    await transport.close();
    await until(() => server.sockets.size === 0);
    expect(await transport.send(get("/"), live)).toMatchObject({ error: { kind: "cancelled", retry: "safe" } });
  });

  test.each(kinds)(
    "$name: mayLeave is called after the connection is open, and nothing is sent when it returns false",
    async ({ start, config }) => {
      const server = await start();
      const transport = open(config(server.port));
      let asked = 0;
      const refused = await transport.send({ ...get("/never"), mayLeave: () => (asked += 1) === 0 }, live);
      expect(refused).toMatchObject({ ok: false, error: { kind: "cancelled", retry: "safe" } });
      expect(asked).toBe(1);
      expect((await readResponse(await transport.send({ ...get("/then"), mayLeave: () => true }, live))).text).toContain("/then");
    },
  );

  test.each(kinds)("$name: a header that cannot be sent is refused", async ({ start, config }) => {
    const server = await start();
    const transport = open(config(server.port));
    const request: TransportRequest = { method: "GET", path: "/", headers: { "x-bad": "a\nb" } };
    expect(await transport.send(request, live)).toMatchObject({ error: { kind: "bad-request" } });
  });
});

describe("broken connections", () => {
  const kinds = [
    {
      name: "HTTP/2",
      start: (handler: Http2Handler) => http2Server(handler),
    },
    {
      name: "HTTP/1.1",
      start: (handler: Http2Handler) => http1Server(handler as unknown as Parameters<typeof http1Server>[0]),
    },
  ];

  test.each(kinds)("$name: a server that dies within a body is `network`", async ({ start }) => {
    const server = await start((_request, response) => {
      stalls(response);
      setImmediate(() => server.sockets.forEach((socket) => socket.destroy()));
    });
    const { text, error } = await readResponse(await open(configFor(server.port)).send(get("/"), live));
    expect({ text, kind: error?.kind, retry: error?.retry }).toEqual({ text: "some", kind: "network", retry: undefined });
  });

  test.each(kinds)("$name: a server that closes the connection within a body is `network`", async ({ start }) => {
    const server = await start((_request, response) => {
      stalls(response);
      setImmediate(() => server.sockets.forEach((socket) => socket.end()));
    });
    const { text, error } = await readResponse(await open(configFor(server.port)).send(get("/"), live));
    expect({ text, kind: error?.kind }).toEqual({ text: "some", kind: "network" });
  });

  test.each(kinds)("$name: a server that dies before its response is `network`, not safe to retry", async ({ start }) => {
    const server = await start(() => server.sockets.forEach((socket) => socket.destroy()));
    const { error } = await readResponse(await open(configFor(server.port)).send(get("/"), live));
    expect({ kind: error?.kind, retry: error?.retry }).toEqual({ kind: "network", retry: undefined });
  });

  test.each(kinds)("$name: a caller can abort before the response", async ({ start }) => {
    let arrived = false;
    const server = await start(() => (arrived = true));
    const caller = new AbortController();
    const sent = open(configFor(server.port)).send(get("/"), caller.signal);
    await until(() => arrived);
    caller.abort();
    expect(await sent).toMatchObject({ error: { kind: "cancelled" } });
  });

  test.each(kinds)("$name: a caller can abort within the body", async ({ start }) => {
    let left = false;
    const server = await start((_request, response) => {
      stalls(response);
      response.on("close", () => (left = true));
    });
    const caller = new AbortController();
    const answer = await open(configFor(server.port)).send(get("/"), caller.signal);
    const reading = readResponse(answer);
    caller.abort();
    expect((await reading).error?.kind).toBe("cancelled");
    await until(() => left);
  });

  test.each(kinds)("$name: a reader that stops reading ends the call", async ({ start }) => {
    let left = false;
    const server = await start((_request, response) => {
      stalls(response);
      response.on("close", () => (left = true));
    });
    for await (const piece of expectOk(await open(configFor(server.port)).send(get("/"), live)).body) if (piece.ok) break;
    await until(() => left);
  });

  test.each(kinds)("$name: close ends an open call with `cancelled`", async ({ start }) => {
    const server = await start((_request, response) => stalls(response));
    const transport = open(configFor(server.port));
    const reading = readResponse(await transport.send(get("/"), live));
    await transport.close();
    expect((await reading).error?.kind).toBe("cancelled");
  });

  test.each(kinds)("$name: a signal that fired before sends nothing", async ({ start }) => {
    const server = await start(echo);
    expect(await open(configFor(server.port)).send(get("/"), AbortSignal.abort())).toMatchObject({
      error: { kind: "cancelled", retry: "safe" },
    });
    expect(server.connections).toBe(0);
  });

  test("no listener: safe to retry, and the message has the address", async () => {
    const server = await http2Server(echo);
    const { port } = server;
    await stopAll();
    expect(await open(configFor(port)).send(get("/"), live)).toEqual(
      err({ kind: "network", message: `cannot connect to https://127.0.0.1:${port}: no server listens there`, retry: "safe" }),
    );
  });

  test("a plain server that does not run", async () => {
    const server = await plainServer(plainEcho);
    const { port } = server;
    await stopAll();
    const config = configFor(port, { server: expectOk(parseServerUrl(`http://127.0.0.1:${port}`)) });
    expect(await open(config).send(get("/"), live)).toMatchObject({ error: { kind: "network", retry: "safe" } });
  });

  test("a server that accepts connections and does not respond times out", async () => {
    const { port } = await cuttableProxy(1).then((proxy) => {
      proxy.control.drop = true;
      return proxy;
    });
    const clock = new FakeClock();
    const sent = open(configFor(port), clock).send(get("/"), live);
    await until(() => clock.pending > 0);
    await clock.advance(10_000);
    expect(await sent).toMatchObject({ error: { kind: "network", retry: "safe" } });
    expect(clock.pending).toBe(0);
  });

  test("close ends a connection that is being opened", async () => {
    const proxy = await cuttableProxy(1);
    proxy.control.drop = true;
    const transport = open(configFor(proxy.port));
    const sent = transport.send(get("/"), live);
    await until(() => proxy.connections === 1);
    await transport.close();
    expect(await sent).toMatchObject({ error: { kind: "cancelled", retry: "safe" } });
  });

  test("a caller can abort while the connection is opened", async () => {
    const proxy = await cuttableProxy(1);
    proxy.control.drop = true;
    const caller = new AbortController();
    const sent = open(configFor(proxy.port)).send(get("/"), caller.signal);
    await until(() => proxy.connections === 1);
    caller.abort();
    expect(await sent).toMatchObject({ error: { kind: "cancelled", retry: "safe" } });
  });
});

describe("trust", () => {
  test("a server of another authority is refused, and the message has the reason", async () => {
    const server = await http2Server(echo);
    const answer = await open(configFor(server.port, { certificateAuthority: newAuthority("other").certificate })).send(get("/"), live);
    expect(answer).toMatchObject({ error: { kind: "network", retry: "useless" } });
    expect(answer.ok ? "" : answer.error.message).toContain(`https://127.0.0.1:${server.port} is not trusted: its certificate`);
  });

  test("a certificate for another name is refused, unless that name is expected", async () => {
    const server = await http2Server(echo);
    const wrong = await open(configFor(server.port, { serverName: "elsewhere.test" })).send(get("/"), live);
    expect(wrong).toMatchObject({ error: { kind: "network", retry: "useless" } });
    expect(wrong.ok ? "" : wrong.error.message).toContain("tls-server-name");
    expect((await readResponse(await open(configFor(server.port, { serverName: "api.test" })).send(get("/"), live))).code).toBe(200);
  });

  test("without an authority only public ones are trusted", async () => {
    const server = await http2Server(echo);
    expect(await open(configFor(server.port, { certificateAuthority: undefined })).send(get("/"), live)).toMatchObject({
      error: { kind: "network", retry: "useless" },
    });
  });

  test("a client certificate identifies the client", async () => {
    const server = await http2Server(
      (request, response) => {
        const peer = request.stream.session?.socket as unknown as { getPeerCertificate(): { subject: { CN: string } } };
        response.end(peer.getPeerCertificate().subject.CN);
      },
      { requestCert: true },
    );
    const credentials = staticCredentials({ certificate: clientIdentity });
    expect((await readResponse(await open(configFor(server.port, { credentials })).send(get("/"), live))).text).toBe("alice");
  });

  test("a server that requires a client certificate and gets none", async () => {
    const server = await http2Server(echo, { requestCert: true });
    const { error } = await readResponse(await open(configFor(server.port)).send(get("/"), live));
    expect(error?.kind).toBe("network");
    expect(error?.message).toContain("it requires a client certificate");
  });

  test("invalid certificates are an error, not an exception", async () => {
    const broken = { certificateAuthority: "?" };
    const mixed = {
      credentials: staticCredentials({
        certificate: { certificate: clientIdentity.certificate, key: issue(authority, "b", "client").key },
      }),
    };
    for (const more of [{ ...broken, credentials: staticCredentials({ certificate: { certificate: "?", key: sensitive("?") } }) }, mixed]) {
      const answer = await open(configFor(1, more)).send(get("/"), live);
      expect(answer).toMatchObject({ error: { kind: "network", retry: "useless" } });
      expect(answer.ok ? "" : answer.error.message).toContain("belong together");
    }
  });
});
