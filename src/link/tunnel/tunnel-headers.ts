/**
 * Which headers pass a tunnel. Both ends apply these rules: an agent does not rely on its cell, nor a cell on its agents.
 *
 * A WebSocket client of Kubernetes may send its token as a subprotocol; that one is removed like the header Authorization.
 */
import { err, ok, type Result } from "#base";
import { TUNNEL_LIMITS } from "./tunnel-limits.ts";

/** Names in lower case, after `parseTunnelHeaders`. */
export type TunnelHeader = readonly [name: string, value: string];

const NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
// eslint-disable-next-line no-control-regex
const VALUE = /^[\t\u0020-\u007e\u0080-\u00ff]*$/;

/** For one connection, by RFC 9110. */
const CONNECTION = new Set([
  "connection",
  "http2-settings",
  "keep-alive",
  "proxy-authenticate",
  "proxy-authentication-info",
  "proxy-authorization",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
]);
/** `host`, `expect`: each end has its own. */
const NOT_FOR_API_SERVER = new Set(["authorization", "cookie", "expect", "forwarded", "host", "x-real-ip"]);
/** Identities that an API server could believe. */
const NOT_FOR_API_SERVER_PREFIXES = [":", "impersonate-", "x-forwarded-", "x-remote-"];
/** They would change how a browser treats the cell's own address. */
const NOT_FOR_CLIENT = new Set(["alt-svc", "clear-site-data", "set-cookie", "strict-transport-security"]);

const BEARER_PROTOCOL = "base64url.bearer.authorization.k8s.io.";
const UPGRADES = new Map([
  ["websocket", "websocket"],
  ["spdy/3.1", "SPDY/3.1"],
]);

/** The error is a clause: "the header …". Names become lower case. */
export function parseTunnelHeaders(raw: Iterable<TunnelHeader>): Result<readonly TunnelHeader[], string> {
  const headers: TunnelHeader[] = [];
  let size = 0;
  for (const [name, value] of raw) {
    if (!NAME.test(name)) return err("the name of a header is invalid");
    if (!VALUE.test(value)) return err(`the header ${name.slice(0, 64)} has an invalid character`);
    size += name.length + value.length;
    headers.push([name.toLowerCase(), value]);
    if (headers.length > TUNNEL_LIMITS.headers) return err(`there are more than ${TUNNEL_LIMITS.headers} headers`);
    if (size > TUNNEL_LIMITS.headerBytes) return err(`the headers are larger than ${TUNNEL_LIMITS.headerBytes} bytes`);
  }
  return ok(headers);
}

/** Without those of one connection, the client's credentials and identity, and `upgrade`. */
export function requestHeadersFor(headers: readonly TunnelHeader[]): readonly TunnelHeader[] {
  return endToEnd(headers).flatMap(([name, value]): TunnelHeader[] => {
    if (NOT_FOR_API_SERVER.has(name) || NOT_FOR_API_SERVER_PREFIXES.some((prefix) => name.startsWith(prefix))) return [];
    if (name !== "sec-websocket-protocol") return [[name, value]];
    const protocols = value.split(",").map((protocol) => protocol.trim());
    const others = protocols.filter((protocol) => !protocol.startsWith(BEARER_PROTOCOL)).join(", ");
    return others === "" ? [] : [[name, others]];
  });
}

export function responseHeadersFor(headers: readonly TunnelHeader[]): readonly TunnelHeader[] {
  return endToEnd(headers).filter(([name]) => !NOT_FOR_CLIENT.has(name));
}

function endToEnd(headers: readonly TunnelHeader[]): readonly TunnelHeader[] {
  const nominated = new Set(
    headers.flatMap(([name, value]) => (name === "connection" ? value.split(",").map((item) => item.trim().toLowerCase()) : [])),
  );
  return headers.filter(([name]) => !CONNECTION.has(name) && !nominated.has(name));
}

/** The protocol of an Upgrade that a tunnel passes; undefined: the header is absent or ignored, which HTTP allows. */
export function upgradeProtocol(headers: readonly TunnelHeader[]): string | undefined {
  const values = headers.filter(([name]) => name === "upgrade");
  return values.length === 1 ? UPGRADES.get((values[0]?.[1] ?? "").toLowerCase()) : undefined;
}

/** Undefined: absent. Two of them, or anything but digits, would let two servers see different bodies. */
export function contentLength(headers: readonly TunnelHeader[]): Result<number | undefined, string> {
  const values = headers.filter(([name]) => name === "content-length");
  if (values.length === 0) return ok(undefined);
  const text = values[0]?.[1] ?? "";
  return values.length === 1 && /^[0-9]{1,15}$/.test(text) ? ok(Number(text)) : err("the header content-length is invalid");
}

/** Names and values alternate, as in Node's `rawHeaders`. */
export function headersOfRaw(raw: readonly string[]): readonly TunnelHeader[] {
  return Array.from({ length: raw.length >> 1 }, (_, at) => [raw[2 * at] ?? "", raw[2 * at + 1] ?? ""]);
}
