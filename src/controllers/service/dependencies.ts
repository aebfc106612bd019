/** The entries about dependencies that are not allowed in the status of a LatticeService. Pure, and of bounded size. */
import type { Dependencies } from "#compile";
import type { NewCondition } from "#kube";
import { unknown, type ServiceReason } from "./conditions.ts";

/** The maxItems of the status schema. */
const MAX_LISTED = 128;
const LONGEST_REASON = 1_024;
/** Limit, because a condition's message is read on a terminal. */
const MAX_IN_MESSAGE = 3;

export function dependenciesOpen(dependencies: Dependencies | undefined): NewCondition {
  const type = "DependenciesOpen";
  if (dependencies === undefined) return unknown(type, "NotCompiled", "The service is not in the mesh");
  const { count, closed } = dependencies;
  const reason: ServiceReason = closed.size === 0 ? "AllOpen" : "DependenciesClosed";
  return { type, status: closed.size === 0 ? "True" : "False", reason, message: closed.size === 0 ? allOpen(count) : describe(closed) };
}

function allOpen(count: number): string {
  if (count === 0) return "The service calls no other";
  return count === 1 ? "1 dependency is open" : `${count} dependencies are open`;
}

function describe(closed: ReadonlyMap<string, string>): string {
  const head = closed.size === 1 ? "1 dependency is closed" : `${closed.size} dependencies are closed`;
  const shown = [...closed].slice(0, MAX_IN_MESSAGE).map(([name, reason]) => `${name}: ${reason}`);
  const more = closed.size > MAX_IN_MESSAGE ? [`and ${closed.size - MAX_IN_MESSAGE} more in status.closedDependencies`] : [];
  return `${head}: ${[...shown, ...more].join("\n")}`;
}

/** undefined: there are none, and the field is removed. */
export function closedDependencies(dependencies: Dependencies | undefined): Readonly<Record<string, string>> | undefined {
  const closed = [...(dependencies?.closed ?? [])].slice(0, MAX_LISTED);
  return closed.length === 0 ? undefined : Object.fromEntries(closed.map(([name, reason]) => [name, reason.slice(0, LONGEST_REASON)]));
}
