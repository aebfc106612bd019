import { describe, expect, test } from "vitest";
import { expectOk } from "#base";
import { parseRequestHead } from "./request-head.ts";
import {
  contentLength,
  parseTunnelHeaders,
  requestHeadersFor,
  responseHeadersFor,
  upgradeProtocol,
  type TunnelHeader,
} from "./tunnel-headers.ts";

const passed = (...headers: TunnelHeader[]) => requestHeadersFor(expectOk(parseTunnelHeaders(headers)));

describe("of a request", () => {
  test("ordinary headers pass, in their order, repeated ones too", () => {
    const headers: TunnelHeader[] = [
      ["accept", "application/json"],
      ["x-stream-protocol-version", "v4"],
      ["x-stream-protocol-version", "v3"],
      ["__proto__", "a"],
      ["sec-websocket-protocol", "v5.channel.k8s.io, v4.channel.k8s.io"],
    ];
    expect(passed(...headers)).toEqual(headers);
  });

  test.each([
    "Authorization",
    "Cookie",
    "Host",
    "Expect",
    "Forwarded",
    "X-Forwarded-For",
    "X-Forwarded-Host",
    "X-Real-IP",
    "X-Remote-User",
    "X-Remote-Group",
    "X-Remote-Extra-Scopes",
    "Impersonate-User",
    "Impersonate-Group",
    "Impersonate-Uid",
    "Impersonate-Extra-a",
    "Connection",
    "Keep-Alive",
    "Proxy-Authorization",
    "Proxy-Connection",
    "TE",
    "Trailer",
    "Transfer-Encoding",
    "Upgrade",
    "HTTP2-Settings",
  ])("%s does not pass", (name) => expect(passed([name, "x"], ["accept", "a"])).toEqual([["accept", "a"]]));

  test("headers that Connection lists do not pass", () => {
    expect(passed(["Connection", "close, X-Secret ,accept"], ["x-secret", "1"], ["Accept", "a"], ["x-other", "2"])).toEqual([
      ["x-other", "2"],
    ]);
  });

  test("a token as a WebSocket protocol does not pass", () => {
    const token = "base64url.bearer.authorization.k8s.io.c2VjcmV0";
    expect(passed(["Sec-WebSocket-Protocol", `${token}, v4.channel.k8s.io`])).toEqual([["sec-websocket-protocol", "v4.channel.k8s.io"]]);
    expect(passed(["Sec-WebSocket-Protocol", token])).toEqual([]);
  });

  test.each([
    { name: "a name with a space", header: ["a b", "c"] },
    { name: "an empty name", header: ["", "c"] },
    { name: "a pseudo header", header: [":path", "/"] },
    { name: "a name with a line break", header: ["a\r\nb", "c"] },
    { name: "a value with a line break", header: ["a", "b\r\nhost: evil"] },
    { name: "a value with NUL", header: ["a", "b\0"] },
    { name: "a value beyond Latin-1", header: ["a", "\u0100"] },
    { name: "a value that is too large", header: ["a", "b".repeat(70_000)] },
  ] as const)("$name is refused", ({ header: [name, value] }) => expect(parseTunnelHeaders([[name, value]])).toMatchObject({ ok: false }));

  test("too many headers are refused", () => {
    const many = (count: number) => parseTunnelHeaders(Array.from({ length: count }, (_, at): TunnelHeader => [`h${at}`, "x"]));
    expect([many(128).ok, many(129).ok]).toEqual([true, false]);
  });
});

test("of a response, those that concern the connection or the cell's own address do not pass", () => {
  const headers: TunnelHeader[] = [
    ["content-type", "a"],
    ["set-cookie", "a=b"],
    ["strict-transport-security", "max-age=1"],
    ["alt-svc", "h3"],
    ["clear-site-data", "*"],
    ["transfer-encoding", "chunked"],
    ["connection", "x-a"],
    ["x-a", "1"],
  ];
  expect(responseHeadersFor(headers)).toEqual([["content-type", "a"]]);
});

test("only WebSocket and SPDY are upgrades", () => {
  const of = (...values: string[]) => upgradeProtocol(values.map((value) => ["upgrade", value]));
  expect([of("WebSocket"), of("SPDY/3.1"), of("h2c"), of(), of("websocket", "SPDY/3.1"), of("websocket, SPDY/3.1")]).toEqual([
    "websocket",
    "SPDY/3.1",
    undefined,
    undefined,
    undefined,
    undefined,
  ]);
});

test.each([["1", "2"], ["5", "5"], ["-1"], ["+1"], ["0x1"], ["1 "], [""], ["9999999999999999"]])(
  "the content-length %s is refused",
  (...values) => {
    expect(contentLength(values.map((value) => ["content-length", value]))).toMatchObject({ ok: false });
  },
);

describe("the head of a request is refused", () => {
  test.each([
    { name: "with the method CONNECT", head: { method: "CONNECT", path: "/", headers: [] } },
    { name: "with the method TRACE", head: { method: "TRACE", path: "/", headers: [] } },
    { name: "with a method in small letters", head: { method: "get", path: "/", headers: [] } },
    { name: "with a method that has a line break", head: { method: "GET / HTTP/1.1\r\n", path: "/", headers: [] } },
    { name: "with a path that leaves the root", head: { method: "GET", path: "/..", headers: [] } },
    { name: "with an invalid header", head: { method: "GET", path: "/", headers: [["a b", ""] as const] } },
    {
      name: "with two lengths",
      head: { method: "GET", path: "/", headers: [["content-length", "1"] as const, ["content-length", "2"] as const] },
    },
    {
      name: "with an upgrade and a body",
      head: { method: "GET", path: "/", headers: [["content-length", "1"] as const, ["upgrade", "websocket"] as const] },
    },
  ])("$name", ({ head }) => expect(parseRequestHead(head)).toMatchObject({ ok: false }));
});
