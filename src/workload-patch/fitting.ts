/**
 * Fields of a pod that the API server accepts only together. An owner may change its part at any time, and its write must not be refused because of
 * the patch: fields of the patch that do not fit the Deployment are left out and reported.
 *
 * The rules are those of Kubernetes' pod validation that a field of a LatticeService can break. They are asked of the Deployment with the patch, so
 * that they also hold when a field of the patch is given up. Fields that exclude each other while the webhook does not act: `union-member.ts`.
 */
import { field, fieldAt, isJsonObject, jsonEqual, type Json, type JsonObject } from "#kube";
import { requestMisfits, resourceMisfits } from "./fitting-resources.ts";
import { listIn } from "./merge.ts";
import type { SkippedField } from "./outcomes.ts";
import { pathKey, valueAt, type PatchedPath } from "./patched-path.ts";
import { CONTAINER_LISTS, HANDLERS } from "./shapes.ts";

/** Fields that do not fit each other, below the container or the pod that a rule is for. */
export type Misfit = { readonly fields: readonly PatchedPath[]; readonly reason: string };

type Deployments = {
  readonly owner: JsonObject;
  readonly merged: JsonObject;
  /** The patch. */
  readonly wanted: JsonObject;
};

/** The fields that the patch has changed so that the server would refuse the Deployment. Empty: none. */
export function misfits({ owner, merged, wanted }: Deployments): readonly SkippedField[] {
  const found = new Map<string, SkippedField>();
  const report = (place: PatchedPath, { fields, reason }: Misfit) => {
    for (const inside of fields) {
      const path = [...place, ...inside];
      if (valueAt(wanted, path) === undefined || jsonEqual(valueAt(merged, path), valueAt(owner, path))) continue;
      const key = pathKey(path);
      if (!found.has(key)) found.set(key, { path, reason });
    }
  };
  const [pod, patch] = [fieldAt(merged, ...POD), fieldAt(wanted, ...POD)];
  if (!isJsonObject(pod) || !isJsonObject(patch)) return [];
  for (const list of CONTAINER_LISTS) {
    for (const ours of listIn(patch, list)) {
      const place = [...POD, list, { key: { name: field(ours, "name") ?? null } }];
      const container = valueAt(merged, place);
      if (!isJsonObject(container) || !isJsonObject(ours)) continue;
      for (const rule of CONTAINER_RULES) for (const misfit of rule(container, ours, pod, patch)) report(place, misfit);
    }
  }
  for (const misfit of [...requestMisfits(pod, patch), ...windowsMisfits(pod, patch, pod, patch)]) report(POD, misfit);
  return [...found.values()];
}

const POD = ["spec", "template", "spec"] as const;

/** The container and the pod with the patch, and both in the patch. */
type Rule = (container: JsonObject, wanted: JsonObject, pod: JsonObject, patch: JsonObject) => readonly Misfit[];

const PROBES = [["livenessProbe"], ["readinessProbe"], ["startupProbe"], ["lifecycle", "postStart"], ["lifecycle", "preStop"]] as const;

/** The timing of a probe that the owner removes. */
const probeMisfits: Rule = (container) =>
  PROBES.flatMap((path) => {
    const probe = fieldAt(container, ...path);
    if (!isJsonObject(probe) || HANDLERS.some((handler) => isJsonObject(field(probe, handler)))) return [];
    const reason = `the Deployment has no ${path.at(-1)}, and that of the service has no action, such as httpGet; set one in the service`;
    return [{ fields: [path], reason }];
  });

const ESCALATION: Misfit = {
  fields: [["allowPrivilegeEscalation"], ["privileged"], ["capabilities", "add"]].map((path) => ["securityContext", ...path]),
  reason: "allowPrivilegeEscalation: false excludes privileged and CAP_SYS_ADMIN; set it in the service as the Deployment needs it",
};

const UNMASKED: Misfit = {
  fields: [["securityContext", "procMount"]],
  reason: "procMount Unmasked needs hostUsers: false of the pod; remove it from the service, or set hostUsers in the Deployment",
};

const securityMisfits: Rule = (container, wanted, pod) => {
  const context = field(container, "securityContext");
  if (!isJsonObject(context) || field(wanted, "securityContext") === undefined) return [];
  const added = fieldAt(context, "capabilities", "add");
  const isPowerful = field(context, "privileged") === true || (Array.isArray(added) && added.includes("CAP_SYS_ADMIN"));
  return [
    ...(isPowerful && field(context, "allowPrivilegeEscalation") === false ? [ESCALATION] : []),
    ...(field(context, "procMount") === "Unmasked" && field(pod, "hostUsers") !== false ? [UNMASKED] : []),
    ...["seccompProfile", "appArmorProfile"].flatMap((name) => profileMisfit(name, field(context, name))),
  ];
};

/** A profile has a file name when its type is Localhost, and only then. */
function profileMisfit(name: string, profile: Json | undefined): readonly Misfit[] {
  if (!isJsonObject(profile)) return [];
  const type = field(profile, "type");
  if (type !== undefined && (type === "Localhost") === (field(profile, "localhostProfile") !== undefined)) return [];
  const fields = ["type", "localhostProfile"].map((inside) => ["securityContext", name, inside]);
  return [
    { fields, reason: `the type and the file of ${name} do not fit each other; use the same type in the service and in the Deployment` },
  ];
}

/** A path is a volume or a device, and a volume of the patch that is given up cannot be mounted. */
const mountMisfits: Rule = (container, wanted, pod, patch) => {
  const mounts = listIn(wanted, "volumeMounts");
  if (mounts.length === 0) return [];
  const devices = listIn(container, "volumeDevices");
  const [paths, names] = [valuesOf(devices, "devicePath"), valuesOf(devices, "name")];
  const [volumes, ours] = [pod, patch].map((one) => valuesOf(listIn(one, "volumes"), "name"));
  return mounts.flatMap((mount) => {
    const [name, mountPath] = [field(mount, "name"), field(mount, "mountPath")];
    const fields = [["volumeMounts", { key: { mountPath: mountPath ?? null } }]];
    if (paths.has(mountPath) || names.has(name)) return [{ fields, reason: DEVICE }];
    if (ours?.has(name) !== true || volumes?.has(name) === true) return [];
    return [{ fields, reason: "its volume is left to another manager, which keeps removing it" }];
  });
};

function valuesOf(list: readonly Json[], name: string): ReadonlySet<Json | undefined> {
  return new Set(list.map((element) => field(element, name)));
}

const DEVICE = "the Deployment has a device at this path or of this volume; use another path in the service";

/** Of a container and of a pod. */
const LINUX_ONLY = [
  "allowPrivilegeEscalation",
  "appArmorProfile",
  "capabilities",
  "fsGroup",
  "fsGroupChangePolicy",
  "privileged",
  "procMount",
  "readOnlyRootFilesystem",
  "runAsGroup",
  "runAsUser",
  "seLinuxOptions",
  "seccompProfile",
  "supplementalGroups",
];

const windowsMisfits: Rule = (_, wanted, pod) => {
  if (fieldAt(pod, "os", "name") !== "windows") return [];
  const names = LINUX_ONLY.filter((name) => fieldAt(wanted, "securityContext", name) !== undefined);
  const reason = "the pods run on Windows, which has no such field; remove it from the service";
  return names.map((name) => ({ fields: [["securityContext", name]], reason }));
};

const CONTAINER_RULES: readonly Rule[] = [probeMisfits, resourceMisfits, securityMisfits, mountMisfits, windowsMisfits];
