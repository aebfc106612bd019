/**
 * Connections of an agent to the API server of its own cluster. The address comes from the target alone; a request has only a path.
 *
 * Requests use HTTP/1.1, because an Upgrade needs it: one connection each. Idle connections are reused, and many requests at once share a limited
 * number: a handshake costs more than most requests.
 */
import { Agent, request as httpsRequest } from "node:https";
import type { ClientRequest } from "node:http";
import { err, ok, reveal, type Result } from "#base";
import type { TunnelRequestHead } from "./request-head.ts";
import { TUNNEL_LIMITS } from "./tunnel-limits.ts";
import type { TunnelTarget } from "./tunnel-types.ts";

export type TunnelConnections = {
  /** A request whose head is not sent yet. `hasBody` without a length: in chunks. */
  readonly open: (head: TunnelRequestHead, authorization: string | undefined, hasBody: boolean) => ClientRequest;
  /** Ends idle connections; open requests go on. */
  readonly close: () => void;
};

export function openTunnelConnections(target: Omit<TunnelTarget, "authorization">): Result<TunnelConnections, string> {
  const url = URL.parse(target.url);
  if (url?.protocol !== "https:" || url.pathname !== "/" || url.search !== "" || url.hash !== "" || url.username !== "") {
    return err("the address of the API server must have the form https://host:port");
  }
  const pooling = { keepAlive: true, maxFreeSockets: TUNNEL_LIMITS.idleConnections, timeout: TUNNEL_LIMITS.idleMs };
  const short = new Agent({ ...pooling, maxSockets: TUNNEL_LIMITS.connections });
  const long = new Agent(pooling);
  const server = {
    host: url.hostname.replace(/^\[(.*)\]$/, "$1"),
    port: url.port === "" ? 443 : Number(url.port),
    ca: target.ca,
    ...(target.clientCertificate === undefined
      ? {}
      : { cert: target.clientCertificate.certificate, key: reveal(target.clientCertificate.key) }),
    minVersion: "TLSv1.2" as const,
    ALPNProtocols: ["http/1.1"],
    maxHeaderSize: TUNNEL_LIMITS.headerBytes,
  };
  return ok({
    open(head, authorization, hasBody) {
      const { method, path, upgrade } = head;
      const request = httpsRequest({
        ...server,
        method,
        path,
        agent: upgrade === undefined ? (isLongRunning(path) ? long : short) : false,
      });
      for (const [name, values] of groupedHeaders(head, authorization)) request.setHeader(name, values);
      // without this Node would send the body of a GET without any framing
      if (hasBody && head.contentLength === undefined) request.setHeader("transfer-encoding", "chunked");
      else if (!hasBody && head.contentLength === undefined && ["POST", "PUT", "PATCH"].includes(method) && upgrade === undefined) {
        request.setHeader("content-length", "0");
      }
      return request;
    },
    close() {
      short.destroy();
      long.destroy();
    },
  });
}

/** Watches, logs and proxied requests: they have no limit of connections, so that they cannot keep others waiting. */
function isLongRunning(path: string): boolean {
  return /[?&](watch|follow)=|\/(log|proxy|exec|attach|portforward)([/?]|$)/.test(path);
}

function groupedHeaders(
  { headers, upgrade }: TunnelRequestHead,
  authorization: string | undefined,
): ReadonlyMap<string, readonly string[]> {
  const own = [
    ...(authorization === undefined ? [] : [["authorization", authorization] as const]),
    ...(upgrade === undefined ? [] : [["connection", "Upgrade"] as const, ["upgrade", upgrade] as const]),
  ];
  const grouped = new Map<string, string[]>();
  for (const [name, value] of [...headers, ...own]) grouped.set(name, [...(grouped.get(name) ?? []), value]);
  return grouped;
}
