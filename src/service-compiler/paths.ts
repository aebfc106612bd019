/** Paths with `.`, `..` or empty segments, which proxies, servers and container runtimes resolve differently. */
import { comparablePath } from "./grants/index.ts";

/** A fast test for a segment that is empty, `.` or `..`, or an escape that could be one: most paths have none. */
const SUSPICIOUS = /\/\.{0,2}(?:\/|$)|\\|%2e/i;

/** Whether a file path has segments to resolve. */
export function needsResolving(path: string): boolean {
  return SUSPICIOUS.test(path);
}

/** `/a/../b` is `/b`, and so are `/a/%2e%2e/b` and `/a\..\b` to a proxy. Returns the same text when there is nothing to resolve. */
export function resolvedUrlPath(path: string): string {
  if (!needsResolving(path) || (!/\\|%2e/i.test(path) && !path.split("/").some(isDots))) return path;
  return withoutDots(comparablePath(path.replaceAll("\\", "/"))) + (path.endsWith("/") && path.length > 1 ? "/" : "");
}

/** Of a file: `/a/../b` and `//b` are `/b`. */
export function resolvedFilePath(path: string): string {
  return withoutDots(path.replace(/\/{2,}/g, "/"));
}

function withoutDots(path: string): string {
  const kept: string[] = [];
  for (const segment of path.split("/").slice(1)) {
    if (segment === "..") kept.pop();
    else if (segment !== ".") kept.push(segment);
  }
  return `/${kept.join("/")}`;
}

function isDots(segment: string): boolean {
  return segment === "." || segment === "..";
}

export function hasEmptySegment(path: string): boolean {
  return path.includes("//");
}
