/** The simulated behaviour of one container: whether it runs to completion (a Job's does, a server's does not), its probes, and injected faults. */
import type { Container, Pod, Probe } from "#kube";
import type { Speeds } from "../options.ts";
import { annotatedMishaps } from "./annotations.ts";
import type { FaultList, Mishap } from "./fault.ts";

export type Role = "init" | "sidecar" | "main" | "ephemeral";

export type Exit = { readonly code: number; readonly afterMs: number; readonly because?: string };

export type Behaviour = {
  /** Undefined: the image can be pulled. */
  readonly pullError: string | undefined;
  readonly startMs: number;
  /** How run number `restarts` ends; undefined: it runs forever. */
  readonly exit: Exit | undefined;
  /** After its start; undefined: never. */
  readonly startedAfterMs: number | undefined;
  readonly readyAfterMs: number | undefined;
};

export type Circumstances = { readonly faults: FaultList; readonly speeds: Speeds };

export function behaviourOf(pod: Pod, container: Container, at: { role: Role; restarts: number }, circumstances: Circumstances): Behaviour {
  const { speeds, faults } = circumstances;
  const mishaps = [...annotatedMishaps(pod, container), ...faults.on(pod, container)];
  const failing = new Set(mishaps.flatMap((mishap) => (mishap.kind === "probe" ? [mishap.probe] : [])));
  const slow = mishaps.reduce((sum, mishap) => sum + (mishap.kind === "slow-start" ? mishap.ms : 0), 0);
  const pull = mishaps.find((mishap) => mishap.kind === "image-pull");
  const { startupProbe, readinessProbe } = container;
  const started = startupProbe === undefined ? 0 : firstSuccess(startupProbe, speeds);
  const ready = readinessProbe === undefined ? 0 : firstSuccess(readinessProbe, speeds);
  const neverStarted = startupProbe !== undefined && failing.has("startup");
  const neverReady = neverStarted || (readinessProbe !== undefined && failing.has("readiness"));
  return {
    pullError: pull === undefined ? undefined : (pull.message ?? pullErrorOf(container)),
    startMs: speeds.startMs + slow,
    exit: exitOf(pod, at, mishaps, speeds) ?? killedByProbe(container, failing, speeds),
    startedAfterMs: neverStarted ? undefined : started,
    readyAfterMs: neverReady ? undefined : Math.max(started, ready),
  };
}

function pullErrorOf({ image = "" }: Container): string {
  return `rpc error: code = NotFound desc = failed to pull and unpack image "${image}": failed to resolve reference "${image}": ${image}: not found`;
}

function exitOf(
  pod: Pod,
  { role, restarts }: { role: Role; restarts: number },
  mishaps: readonly Mishap[],
  speeds: Speeds,
): Exit | undefined {
  const injected = mishaps.find((mishap) => mishap.kind === "exit" && (mishap.times === undefined || restarts < mishap.times));
  if (injected?.kind === "exit") return { code: injected.code, afterMs: injected.afterMs ?? speeds.runMs };
  if (role === "init") return { code: 0, afterMs: speeds.initMs };
  const ends = role === "main" && (pod.spec.restartPolicy === "Never" || pod.spec.restartPolicy === "OnFailure");
  return ends ? { code: 0, afterMs: speeds.runMs } : undefined;
}

/** The kubelet kills a container that fails its liveness or startup probe often enough: 128 + SIGKILL. */
function killedByProbe(container: Container, failing: ReadonlySet<string>, speeds: Speeds): Exit | undefined {
  const failed = [
    { name: "startup", probe: container.startupProbe },
    { name: "liveness", probe: container.livenessProbe },
  ].find(({ name, probe }) => probe !== undefined && failing.has(name));
  if (failed?.probe === undefined) return undefined;
  return {
    code: 137,
    afterMs: lastFailure(failed.probe, speeds),
    because: `Container ${container.name} failed ${failed.name} probe, will be restarted`,
  };
}

function firstSuccess({ initialDelaySeconds = 0, successThreshold = 1, periodSeconds = 10 }: Probe, { probeScale }: Speeds): number {
  return (initialDelaySeconds + (successThreshold - 1) * periodSeconds) * 1_000 * probeScale;
}

function lastFailure({ initialDelaySeconds = 0, failureThreshold = 3, periodSeconds = 10 }: Probe, { probeScale }: Speeds): number {
  return (initialDelaySeconds + (failureThreshold - 1) * periodSeconds) * 1_000 * probeScale;
}
