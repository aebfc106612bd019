import { afterEach, describe, expect, test } from "vitest";
import { err, ok, sensitive, systemClock } from "#base";
import {
  authority,
  clientIdentity,
  configFor,
  echo,
  http1Server,
  http2Server,
  issue,
  readResponse,
  stopAll,
  until,
  type Http2Handler,
} from "../../../test/builders/loopback-servers.ts";
import type { ClusterConfig, Credentials } from "../cluster-config.ts";
import type { KubeError } from "../errors.ts";
import type { Transport, TransportRequest } from "../transport.ts";
import { httpTransport } from "./http-transport.ts";

const transports: Transport[] = [];
const live = new AbortController().signal;
const get = (path: string): TransportRequest => ({ method: "GET", path, headers: {} });
const plainEcho = echo as unknown as Parameters<typeof http1Server>[0];

function open(config: ClusterConfig): Transport {
  const transport = httpTransport(config, { clock: systemClock });
  transports.push(transport);
  return transport;
}

afterEach(async () => {
  await Promise.all(transports.splice(0).map((transport) => transport.close()));
  await stopAll();
});

describe("credentials", () => {
  /** Returns these tokens in turn; the last repeatedly. */
  const tokens = (...texts: readonly string[]) => {
    let at = 0;
    const made = texts.map((text) => sensitive(text));
    const state = { closed: false };
    const credentials: Credentials = {
      get: () => Promise.resolve(ok({ token: made[Math.min(at, made.length - 1)] })),
      refused: () => {
        at += 1;
        return true;
      },
      close: () => (state.closed = true),
    };
    return { credentials, state };
  };
  const accepting =
    (good: string): Http2Handler =>
    (request, response) => {
      response.writeHead(request.headers.authorization === `Bearer ${good}` ? 200 : 401);
      response.end("body");
    };

  test("a 401 is retried with fresh ones, for writes too", async () => {
    const server = await http2Server(accepting("new"));
    const { credentials, state } = tokens("old", "new");
    const transport = open(configFor(server.port, { credentials }));
    const request: TransportRequest = { method: "POST", path: "/", headers: {}, body: "{}" };
    expect(await readResponse(await transport.send(request, live))).toEqual({ code: 200, text: "body" });
    await transport.close();
    expect(state.closed).toBe(true);
  });

  test("a second 401 is returned", async () => {
    const server = await http2Server(accepting("never"));
    const { credentials } = tokens("old", "new", "newer");
    expect(await readResponse(await open(configFor(server.port, { credentials })).send(get("/"), live))).toEqual({
      code: 401,
      text: "body",
    });
  });

  test("a 401 is returned when there is no new credential", async () => {
    const server = await http2Server(accepting("never"));
    expect(await readResponse(await open(configFor(server.port, tokens("old"))).send(get("/"), live))).toEqual({ code: 401, text: "body" });
  });

  test("missing credentials are the error of the call", async () => {
    const server = await http2Server(accepting("never"));
    const none = err<KubeError>({ kind: "unauthorized", message: "no token" });
    const never: Credentials = { get: () => Promise.resolve(none), refused: () => true, close() {} };
    expect(await open(configFor(server.port, { credentials: never })).send(get("/"), live)).toEqual(none);
    let asked = 0;
    const once: Credentials = { ...never, get: () => Promise.resolve((asked += 1) === 1 ? ok({}) : none) };
    expect(await open(configFor(server.port, { credentials: once })).send(get("/"), live)).toEqual(none);
  });

  test("a new client certificate uses new connections, and open calls stay on the old ones", async () => {
    const waiting: (() => void)[] = [];
    const server = await http2Server((request, response) => {
      if (request.url === "/slow") waiting.push(() => response.end("done"));
      else response.end("quick");
    });
    let certificate = clientIdentity;
    const credentials: Credentials = { get: () => Promise.resolve(ok({ certificate })), refused: () => false, close() {} };
    const transport = open(configFor(server.port, { credentials }));
    const slow = transport.send(get("/slow"), live).then(readResponse);
    await until(() => waiting.length === 1);
    certificate = issue(authority, "bob", "client");
    expect((await readResponse(await transport.send(get("/"), live))).text).toBe("quick");
    expect(server.connections).toBe(2);
    waiting[0]?.();
    expect((await slow).text).toBe("done");
    await until(() => server.sockets.size === 1);
  });

  test("a new client certificate on HTTP/1.1", async () => {
    const server = await http1Server(plainEcho);
    let certificate = clientIdentity;
    const credentials: Credentials = { get: () => Promise.resolve(ok({ certificate })), refused: () => false, close() {} };
    const transport = open(configFor(server.port, { credentials }));
    await readResponse(await transport.send(get("/"), live));
    certificate = issue(authority, "bob", "client");
    expect((await readResponse(await transport.send(get("/"), live))).code).toBe(200);
  });
});
