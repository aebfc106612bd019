/** The events of a kubelet about the processes of a Pod, from the change of its status: those that were written before are not repeated. */
import type { EventNote } from "#controller-runtime";
import type { Pod, PodStatus } from "#kube";
import { notesOf } from "./notes.ts";
import { allContainers, type ContainerHappening } from "./pod-run.ts";
import { statusNamed } from "./process-status.ts";

export function processNotes(pod: Pod, before: PodStatus, after: PodStatus): readonly EventNote[] {
  const happened = allContainers(pod).flatMap((container): readonly ContainerHappening[] => {
    const [old, now] = [statusNamed(before, container.name), statusNamed(after, container.name)];
    const isSameStart = old?.restartCount === now?.restartCount;
    if (now?.state?.running !== undefined && !(isSameStart && old?.state?.running !== undefined))
      return [
        { what: "pulled", container },
        { what: "started", container },
      ];
    const backsOff = now?.state?.waiting?.reason === "CrashLoopBackOff";
    return backsOff && !(isSameStart && old?.state?.waiting !== undefined) ? [{ what: "backed-off", container }] : [];
  });
  return notesOf(pod, happened);
}

/** Containers that run when their Pod is deleted. */
export function killingNotes(pod: Pod, { containerStatuses = [] }: PodStatus): readonly EventNote[] {
  const running = containerStatuses.filter(({ state }) => state?.running !== undefined);
  return running.map(({ name }) => ({ regarding: pod, type: "Normal", reason: "Killing", note: `Stopping container ${name}` }));
}
