/**
 * Faults and usage as annotations of a Pod template, `simulation.lattice.dev/…`. With `.NAME` at the end they apply to
 * one container, without it to all.
 */
import { parseDuration } from "#base";
import type { Container, Pod } from "#kube";
import type { Mishap, ProbeKind } from "./fault.ts";

export const PREFIX = "simulation.lattice.dev/";

/** "image-pull": "fail" · "exit-code", "exit-after", "exit-times" · "fail-probe": "readiness,liveness" · "start-delay": "5s" */
export function annotatedMishaps(pod: Pod, container: Container): readonly Mishap[] {
  const { annotations } = pod.metadata;
  if (annotations === undefined) return [];
  const read = (name: string) => annotation(annotations, `${name}.${container.name}`) ?? annotation(annotations, name);
  const delay = durationOf(read("start-delay"));
  return [
    ...(read("image-pull") === "fail" ? [{ kind: "image-pull" } as const] : []),
    ...exitOf(read),
    ...(read("fail-probe") ?? "").split(",").flatMap((probe) => (isProbe(probe) ? [{ kind: "probe", probe } as const] : [])),
    ...(delay === undefined ? [] : [{ kind: "slow-start", ms: delay } as const]),
  ];
}

function exitOf(read: (name: string) => string | undefined): readonly Mishap[] {
  const code = wholeOf(read("exit-code"));
  if (code === undefined) return [];
  const [afterMs, times] = [durationOf(read("exit-after")), wholeOf(read("exit-times"))];
  return [{ kind: "exit", code, ...(afterMs === undefined ? {} : { afterMs }), ...(times === undefined ? {} : { times }) }];
}

export function annotation(annotations: Readonly<Record<string, string>>, name: string): string | undefined {
  const full = `${PREFIX}${name}`;
  return Object.hasOwn(annotations, full) ? annotations[full]?.trim() : undefined;
}

function durationOf(text: string | undefined): number | undefined {
  const parsed = text === undefined ? undefined : parseDuration(text);
  return parsed?.ok === true ? parsed.value : undefined;
}

function wholeOf(text: string | undefined): number | undefined {
  return text !== undefined && /^[0-9]{1,9}$/.test(text) ? Number(text) : undefined;
}

function isProbe(text: string): text is ProbeKind {
  return text === "readiness" || text === "liveness" || text === "startup";
}
