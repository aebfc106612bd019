/**
 * Which cluster a request is for, and its path there: `/clusters/<name>` and everything below.
 *
 * The target is checked as it was sent, before the prefix is removed: a path with `..` is refused, not resolved.
 */
import { err, ok, type Result } from "#base";
import { parseDnsSubdomain } from "#kube";
import { parseTunnelPath } from "#link";
import { BAD_PATH, NOT_FOUND, UNAUTHORIZED, type ProxyRefusal } from "./proxy-refusal.ts";

export type ProxyRoute = { readonly cluster: string; readonly path: string };

const ROUTE = /^\/clusters\/([^/?]+)(.*)$/s;

export function parseProxyRoute(target: string): Result<ProxyRoute, ProxyRefusal> {
  const checked = parseTunnelPath(target);
  if (!checked.ok) return err({ ...BAD_PATH, message: `${BAD_PATH.message}: ${checked.error}` });
  const [, name, rest] = ROUTE.exec(checked.value) ?? [];
  if (name === undefined || rest === undefined) return err(NOT_FOUND);
  const cluster = parseDnsSubdomain(name);
  // no such cluster can exist; the response is that of one that does not
  if (!cluster.ok) return err(UNAUTHORIZED);
  return ok({ cluster: cluster.value, path: rest.startsWith("/") ? rest : `/${rest}` });
}

/** Undefined: there is none, or more than one could read it as. */
export function bearerToken(authorization: string | undefined): string | undefined {
  return /^Bearer ([A-Za-z0-9._~+/-]{1,4096}={0,2})$/i.exec(authorization ?? "")?.[1];
}
