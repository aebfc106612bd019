/** One log line per request. Values of query parameters can be secret (`command` of an exec), so only those of a few names are shown. */
import type { Logger } from "#base";

export type ProxyAudit = { cluster?: string; readonly method: string; path: string; status: number; upgrade?: string };

const SHOWN = new Set([
  "allowWatchBookmarks",
  "dryRun",
  "fieldManager",
  "force",
  "limit",
  "propagationPolicy",
  "resourceVersion",
  "resourceVersionMatch",
  "timeoutSeconds",
  "watch",
]);
const MAX_LENGTH = 1_024;

export function writeAudit(logger: Logger, { cluster, method, path, status, upgrade }: ProxyAudit, ms: number): void {
  const known = { ...(cluster === undefined ? {} : { cluster }), ...(upgrade === undefined ? {} : { upgrade }) };
  logger.info("api request", { ...known, method, path: auditPath(path), status, ms: Math.round(ms) });
}

function auditPath(target: string): string {
  const [path = "", query] = target.split("?", 2);
  if (query === undefined) return path.slice(0, MAX_LENGTH);
  const shown = query.split("&").map((parameter) => {
    const [name = "", value] = parameter.split("=", 2);
    return value === undefined || SHOWN.has(name) ? parameter : `${name}=***`;
  });
  return `${path}?${shown.join("&")}`.slice(0, MAX_LENGTH);
}
