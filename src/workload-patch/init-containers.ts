/**
 * A service names containers, without the list that they are in. A container that the Deployment has as an init container is patched there.
 *
 * An init container that runs to completion may have no probes. The server would refuse the Deployment, so they are left out and reported.
 */
import { field, isJsonObject, type Json, type JsonObject } from "#kube";
import { listIn, type Merging } from "./merge.ts";
import { lastIndexOf, withField } from "./patched-path.ts";

const ONLY_SIDECARS = ["lifecycle", "livenessProbe", "readinessProbe", "startupProbe"];

/** The patch with each of its containers in the list in which the owner's Deployment has it. */
export function routeInitContainers(owner: JsonObject, patch: JsonObject, merging: Pick<Merging, "skipped">): JsonObject {
  const [spec, template] = [field(patch, "spec"), field(field(patch, "spec"), "template")];
  const [pod, ownerPod] = [field(template, "spec"), field(field(field(owner, "spec"), "template"), "spec")];
  const owned = listIn(ownerPod, "initContainers");
  if (owned.length === 0 || !isJsonObject(spec) || !isJsonObject(template) || !isJsonObject(pod)) return patch;
  const containers = listIn(pod, "containers");
  const moved = containers.filter((one) => indexIn(owned, one) >= 0 && indexIn(listIn(ownerPod, "containers"), one) < 0);
  const named = [...listIn(pod, "initContainers"), ...moved];
  if (named.length === 0) return patch;
  const initContainers = named.map((one) => withoutProbes(one, owned[indexIn(owned, one)], merging));
  const routed = { ...pod, containers: containers.filter((one) => !moved.includes(one)), initContainers };
  return withField(patch, "spec", withField(spec, "template", withField(template, "spec", routed)));
}

function indexIn(list: readonly Json[], container: Json): number {
  return lastIndexOf(list, { key: { name: field(container, "name") ?? null } });
}

function withoutProbes(container: Json, owned: Json | undefined, merging: Pick<Merging, "skipped">): Json {
  if (!isJsonObject(container) || field(owned, "restartPolicy") === "Always") return container;
  let result = container;
  for (const name of ONLY_SIDECARS.filter((probe) => field(container, probe) !== undefined)) {
    const step = { key: { name: field(container, "name") ?? null } };
    merging.skipped.push({ path: ["spec", "template", "spec", "initContainers", step, name], reason: NO_PROBES(name) });
    result = withField(result, name, undefined);
  }
  return result;
}

const NO_PROBES = (name: string) =>
  `an init container without restartPolicy: Always runs to completion and has no ${name}; remove it from the service`;
