/** The events of a kubelet about a Pod, with its messages. */
import type { EventNote } from "#controller-runtime";
import type { Container, Pod } from "#kube";
import { allContainers, runOf, type ContainerHappening, type PodRun } from "./pod-run.ts";

export function notesOf(pod: Pod, happened: readonly ContainerHappening[]): readonly EventNote[] {
  return happened.flatMap((one) => noteOf(pod, one));
}

function noteOf(pod: Pod, { what, detail = "", container }: ContainerHappening): readonly EventNote[] {
  const { name, image = "" } = container;
  switch (what) {
    case "pulled":
      return [normal(pod, "Pulled", `Container image "${image}" already present on machine`)];
    case "started":
      return [normal(pod, "Created", "Container created"), normal(pod, "Started", "Container started")];
    case "pull-failed":
      return [
        normal(pod, "Pulling", `Pulling image "${image}"`),
        warning(pod, "Failed", `Failed to pull image "${image}": ${detail}`),
        warning(pod, "Failed", "Error: ErrImagePull"),
      ];
    case "pull-backoff":
      return [normal(pod, "BackOff", `Back-off pulling image "${image}"`), warning(pod, "Failed", "Error: ImagePullBackOff")];
    case "backed-off":
      return [warning(pod, "BackOff", `Back-off restarting failed container ${name} in pod ${podText(pod)}`)];
    case "killed":
      return [normal(pod, "Killing", detail)];
  }
}

export function stoppingNotes(pod: Pod, run: PodRun): readonly EventNote[] {
  const running = (container: Container) => runOf(run, container).stage === "running";
  return allContainers(pod)
    .filter(running)
    .map(({ name }) => normal(pod, "Killing", `Stopping container ${name}`));
}

function podText({ metadata: { name, namespace = "", uid = "" } }: Pod): string {
  return `${name}_${namespace}(${uid})`;
}

function normal(regarding: Pod, reason: string, note: string): EventNote {
  return { regarding, type: "Normal", reason, note };
}

function warning(regarding: Pod, reason: string, note: string): EventNote {
  return { regarding, type: "Warning", reason, note };
}
