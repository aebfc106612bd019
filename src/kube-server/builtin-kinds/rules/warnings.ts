/** Warnings about accepted objects: names that are bad host names, and fields of Pods without the expected effect. */
import { jsonEqual, type JsonObject, type KubeObject } from "#kube";
import { at, numberAt, objectAt, objectsAt, textAt } from "../draft.ts";
import { joined } from "./causes.ts";
import { dnsLabel } from "./formats.ts";
import { quantityOf } from "./pod/resources.ts";

type Warnings = readonly string[];

export function dnsNameWarnings(object: KubeObject, use = "this is used in Pod names and hostnames"): Warnings {
  const messages = dnsLabel(textAt(object, "metadata", "name"));
  if (messages.length === 0) return [];
  return [`metadata.name: ${use}, which can result in surprising behavior; a DNS label is recommended: [${messages.join(" ")}]`];
}

/** Of a template, when it is new or has changed. */
export function templateWarnings(next: KubeObject, previous: KubeObject | undefined, path: string): Warnings {
  if (previous !== undefined && jsonEqual(at(next, "spec"), at(previous, "spec"))) return [];
  return podWarnings(objectAt(at(next, ...path.split("."))) ?? {}, path);
}

/** `path` is "" for a Pod itself. */
export function podWarnings(pod: JsonObject, path: string): Warnings {
  const spec = objectAt(pod, "spec") ?? {};
  const at = path === "" ? "spec" : `${path}.spec`;
  return joined(
    spreadWarnings(spec, at),
    volumeWarnings(spec, at),
    repeated(spec, `${at}.hostAliases`, ["hostAliases", "ip"]),
    repeated(spec, `${at}.imagePullSecrets`, ["imagePullSecrets", "name"]),
    emptyPullSecrets(spec, at),
    containersOf(spec, at).flatMap(([container, here]) => joined(fractionalBytes(container, here), hiddenVariables(container, here))),
    portWarnings(spec, at),
    (numberAt(spec, "terminationGracePeriodSeconds") ?? 0) < 0
      ? [`${at}.terminationGracePeriodSeconds: must be >= 0; negative values are invalid and will be treated as 1`]
      : [],
    affinityWarnings(spec, at),
  );
}

function spreadWarnings(spec: JsonObject, path: string): Warnings {
  return objectsAt(spec, "topologySpreadConstraints").flatMap((constraint, index) =>
    objectAt(constraint, "labelSelector") === undefined
      ? [`${path}.topologySpreadConstraints[${index}].labelSelector: a null labelSelector results in matching no pod`]
      : [],
  );
}

const NO_POD = "labelSelector: a null labelSelector results in matching no pod";
const REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution";
const PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution";

function affinityWarnings(spec: JsonObject, path: string): Warnings {
  if (objectAt(spec, "affinity") === undefined) return [];
  return ["podAffinity", "podAntiAffinity"].flatMap((kind) => [
    ...objectsAt(spec, "affinity", kind, REQUIRED).flatMap((term, index) =>
      objectAt(term, "labelSelector") === undefined ? [`${path}.affinity.${kind}.${REQUIRED}[${index}].${NO_POD}`] : [],
    ),
    ...objectsAt(spec, "affinity", kind, PREFERRED).flatMap((term, index) =>
      objectAt(term, "podAffinityTerm", "labelSelector") === undefined
        ? [`${path}.affinity.${kind}.${PREFERRED}[${index}].podAffinityTerm.${NO_POD}`]
        : [],
    ),
  ]);
}

const DEPRECATED_VOLUMES: ReadonlyMap<string, string> = new Map([
  ["photonPersistentDisk", "deprecated in v1.11, non-functional in v1.16+"],
  ["gitRepo", "deprecated in v1.11, and disabled by default in v1.33+"],
  ["scaleIO", "deprecated in v1.16, non-functional in v1.22+"],
  ["flocker", "deprecated in v1.22, non-functional in v1.25+"],
  ["storageos", "deprecated in v1.22, non-functional in v1.25+"],
  ["quobyte", "deprecated in v1.22, non-functional in v1.25+"],
  ["glusterfs", "deprecated in v1.25, non-functional in v1.26+"],
  ["cephfs", "deprecated in v1.28, non-functional in v1.31+"],
  ["rbd", "deprecated in v1.28, non-functional in v1.31+"],
]);

function volumeWarnings(spec: JsonObject, path: string): Warnings {
  return objectsAt(spec, "volumes").flatMap((volume, index) => {
    // a volume has its name and one source
    const [found] = Object.keys(volume).filter((name) => DEPRECATED_VOLUMES.has(name) && objectAt(volume, name) !== undefined);
    if (found === undefined) return [];
    return [`${path}.volumes[${index}].${found === "storageos" ? "storageOS" : found}: ${DEPRECATED_VOLUMES.get(found) ?? ""}`];
  });
}

function repeated(spec: JsonObject, path: string, [list, name]: readonly [string, string]): Warnings {
  const seen = new Set<string>();
  return objectsAt(spec, list).flatMap((item, index) => {
    const value = textAt(item, name);
    if (seen.has(value)) return [`${path}[${index}].${name}: duplicate ${name} ${JSON.stringify(value)}`];
    seen.add(value);
    return [];
  });
}

function emptyPullSecrets(spec: JsonObject, path: string): Warnings {
  return objectsAt(spec, "imagePullSecrets").flatMap((secret, index) =>
    textAt(secret, "name") === "" ? [`${path}.imagePullSecrets[${index}].name: invalid empty name ""`] : [],
  );
}

/** Init containers come first, as the server visits them. */
function containersOf(spec: JsonObject, path: string): readonly (readonly [JsonObject, string])[] {
  return ["initContainers", "containers"].flatMap((list) =>
    objectsAt(spec, list).map((container, index) => [container, `${path}.${list}[${index}]`] as const),
  );
}

function fractionalBytes(container: JsonObject, path: string): Warnings {
  const resources = objectAt(container, "resources");
  if (resources === undefined) return [];
  return ["memory", "ephemeral-storage"].flatMap((resource) =>
    ["limits", "requests"].flatMap((kind) => {
      const amount = textAt(resources, kind, resource);
      const quantity = amount === "" ? undefined : quantityOf(amount);
      if (quantity === undefined || quantity % 1_000_000_000n === 0n) return [];
      return [`${path}.resources.${kind}[${resource}]: fractional byte value ${JSON.stringify(amount)} is invalid, must be an integer`];
    }),
  );
}

function hiddenVariables(container: JsonObject, path: string): Warnings {
  const seen = new Set<string>();
  return objectsAt(container, "env").flatMap((variable, index) => {
    const name = textAt(variable, "name");
    if (!seen.has(name)) {
      seen.add(name);
      return [];
    }
    const [value, reference] = [textAt(variable, "value"), `$(${name})`];
    if (objectAt(variable, "valueFrom") === undefined && value !== reference && value.includes(reference)) return [];
    return [`${path}.env[${index}]: hides previous definition of ${JSON.stringify(name)}, which may be dropped when using apply`];
  });
}

type Port = { readonly path: string; readonly hostIP: string; readonly hostPort: number };

/** Each port may overlap with all before it. Of so many warnings hardly the first fit into an answer. */
const MOST_OVERLAPS = 500;

function portWarnings(spec: JsonObject, path: string): Warnings {
  const all = new Map<string, Port[]>();
  const names = new Map<string, string>();
  const overlaps: string[] = [];
  const doubles: string[] = [];
  for (const [container, here] of containersOf(spec, path)) {
    for (const [index, port] of objectsAt(container, "ports").entries()) {
      const own = { path: `${here}.ports[${index}]`, hostIP: textAt(port, "hostIP"), hostPort: numberAt(port, "hostPort") ?? 0 };
      const key = `${numberAt(port, "containerPort") ?? 0}/${textAt(port, "protocol")}`;
      const others = all.get(key) ?? [];
      for (const other of overlaps.length < MOST_OVERLAPS ? others.slice(0, MOST_OVERLAPS) : []) overlaps.push(...portOverlap(own, other));
      others.push(own);
      all.set(key, others);
      const name = textAt(port, "name");
      const first = names.get(name);
      if (name !== "" && first !== undefined) {
        doubles.push(
          `${own.path}: duplicate port name ${JSON.stringify(name)} with ${first}, services and probes that select ports by name will use ${first}`,
        );
      } else names.set(name, own.path);
    }
  }
  return [...overlaps, ...doubles];
}

function portOverlap(port: Port, other: Port): Warnings {
  if (port.hostIP === other.hostIP && port.hostPort === other.hostPort)
    return [`${port.path}: duplicate port definition with ${other.path}`];
  if (port.hostPort === 0 || other.hostPort === 0) return [`${port.path}: overlapping port definition with ${other.path}`];
  const oneOpen = (port.hostIP === "") !== (other.hostIP === "");
  return port.hostPort === other.hostPort && oneOpen ? [`${port.path}: dangerously ambiguous port definition with ${other.path}`] : [];
}
