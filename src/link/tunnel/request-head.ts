/** Reads the head of a request, on both ends of a tunnel. Everything that is not understood is refused before a connection is opened. */
import { err, ok, type Result } from "#base";
import { contentLength, parseTunnelHeaders, requestHeadersFor, upgradeProtocol, type TunnelHeader } from "./tunnel-headers.ts";
import { parseTunnelPath } from "./tunnel-path.ts";

export type RawRequestHead = { readonly method: string; readonly path: string; readonly headers: Iterable<TunnelHeader> };

export type TunnelRequestHead = {
  readonly method: string;
  readonly path: string;
  /** Those that the API server gets. */
  readonly headers: readonly TunnelHeader[];
  readonly upgrade: string | undefined;
  readonly contentLength: number | undefined;
};

const METHODS: ReadonlySet<string> = new Set(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]);

export function parseRequestHead({ method, path, headers }: RawRequestHead): Result<TunnelRequestHead, string> {
  if (!METHODS.has(method)) return err("the method is not one that a tunnel passes");
  const checkedPath = parseTunnelPath(path);
  if (!checkedPath.ok) return checkedPath;
  const parsed = parseTunnelHeaders(headers);
  if (!parsed.ok) return parsed;
  const forwarded = requestHeadersFor(parsed.value);
  const length = contentLength(forwarded);
  if (!length.ok) return length;
  const upgrade = upgradeProtocol(parsed.value);
  if (upgrade !== undefined && (length.value ?? 0) > 0) return err("a request with the header upgrade must not have a body");
  return ok({ method, path, headers: forwarded, upgrade, contentLength: length.value });
}
