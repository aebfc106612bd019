/**
 * Why pods do not run, from their status. Pure.
 *
 * Texts are stable: they contain no pod name and no restart count, so that a crash loop does not rewrite the status of its service. They quote
 * the scheduler and the names of missing objects from the kubelet, and no output of a container, which may contain a secret.
 */
import type { ContainerStatus, Pod } from "#kube";
import type { ServiceReason } from "./conditions.ts";

export type PodProblem = { readonly reason: Extract<ServiceReason, "Unschedulable" | "PodsFailing">; readonly message: string };

/** The problem that most pods have; undefined: the status of no pod shows one. */
export function podProblem(pods: readonly Pod[]): PodProblem | undefined {
  const counts = new Map<string, { readonly problem: PodProblem; readonly count: number }>();
  for (const pod of pods) {
    const problem = pod.metadata.deletionTimestamp === undefined ? problemOf(pod) : undefined;
    if (problem !== undefined) counts.set(problem.message, { problem, count: (counts.get(problem.message)?.count ?? 0) + 1 });
  }
  const most = [...counts.values()].toSorted((a, b) => b.count - a.count || (a.problem.message < b.problem.message ? -1 : 1))[0];
  if (most === undefined) return undefined;
  const { problem, count } = most;
  return { ...problem, message: `${count === 1 ? "1 pod" : `${count} pods`} ${problem.message}` };
}

function problemOf({ status }: Pod): PodProblem | undefined {
  const scheduled = status?.conditions?.find(({ type }) => type === "PodScheduled");
  if (scheduled?.status === "False" && scheduled.reason === "Unschedulable")
    return { reason: "Unschedulable", message: `cannot be scheduled: ${scheduled.message ?? "no node fits"}` };
  const texts = [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])].flatMap((one) => failureOf(one) ?? []);
  return texts[0] === undefined ? undefined : { reason: "PodsFailing", message: `cannot run: ${texts[0]}` };
}

/** Waiting reasons of a container that is starting. */
const ORDINARY: ReadonlySet<string> = new Set(["ContainerCreating", "PodInitializing"]);
const PULL: ReadonlySet<string> = new Set([
  "ErrImagePull",
  "ImagePullBackOff",
  "ErrImageNeverPull",
  "InvalidImageName",
  "ImageInspectError",
  "RegistryUnavailable",
]);

function failureOf({ name, image, ready, restartCount, state, lastState }: ContainerStatus): string | undefined {
  const { reason, message = "" } = state?.waiting ?? {};
  if (reason !== undefined && PULL.has(reason)) return `container ${name}: the image ${image} cannot be pulled`;
  const ended = state?.terminated ?? lastState?.terminated;
  // between two runs of a crash loop the container is running, for a short time
  if (!ready && restartCount > 0 && ended !== undefined && (ended.exitCode ?? 0) !== 0)
    return `container ${name} ends with exit code ${ended.exitCode} and is started again`;
  if (reason === undefined || ORDINARY.has(reason)) return undefined;
  // the kubelet names the Secret, ConfigMap or key that is missing
  return reason === "CreateContainerConfigError" && message !== "" ? `container ${name}: ${message}` : `container ${name}: ${reason}`;
}
