/** Fields of a patch that do not fit what the owner's Deployment has, or has after the owner's next write. */
import { describe, expect, test } from "vitest";
import { expectOk } from "#base";
import { fieldAt, type Json, type JsonObject, type KubeObject } from "#kube";
import { AT, ownedDeployment, patchOf, podPatch } from "../../test/builders/workload-patches.ts";
import { applyWorkloadPatch, pathText, revertWorkloadPatch, type WorkloadPatch } from "./index.ts";
import { applyAt } from "./applied.test-support.ts";
import { withValueAt } from "./patched-path.ts";

const probe = { httpGet: { path: "/", port: 80, scheme: "HTTP" }, timeoutSeconds: 1, periodSeconds: 10, successThreshold: 1, failureThreshold: 3 }; // prettier-ignore
const gpu = (kind: string) => ({ [kind]: { "nvidia.com/gpu": "1" } });
const pages = { "hugepages-2Mi": "4Mi" };
const mount = { name: "lattice-data", mountPath: "/data" };
const volume = { name: "lattice-data", emptyDir: {} };
const context = (fields: JsonObject) => ({ securityContext: fields });

type Pod = { readonly container?: JsonObject; readonly pod?: JsonObject };
type Row = {
  readonly name: string;
  readonly before?: Pod;
  readonly patch: WorkloadPatch;
  readonly after?: Pod;
  readonly skipped: readonly string[];
};

const rows: readonly Row[] = [
  { name: "the timing of a probe that is removed", before: { container: { livenessProbe: probe } }, patch: patchOf({ livenessProbe: { periodSeconds: 20 } }), skipped: ["livenessProbe"] },
  { name: "a field of a hook that is removed", before: { container: { lifecycle: { preStop: { sleep: { seconds: 1 } } } } }, patch: patchOf({ lifecycle: { preStop: { note: 1 } } }), skipped: ["lifecycle.preStop"] },
  { name: "allowPrivilegeEscalation: false, and privileged is set", patch: patchOf(context({ allowPrivilegeEscalation: false, runAsUser: 5 })), after: { container: context({ privileged: true }) }, skipped: ["securityContext.allowPrivilegeEscalation"] },
  { name: "allowPrivilegeEscalation: false, and CAP_SYS_ADMIN is added", patch: patchOf(context({ allowPrivilegeEscalation: false })), after: { container: context({ capabilities: { add: ["CAP_SYS_ADMIN"] } }) }, skipped: ["securityContext.allowPrivilegeEscalation"] },
  { name: "privileged, and allowPrivilegeEscalation: false is set", patch: patchOf(context({ privileged: true })), after: { container: context({ allowPrivilegeEscalation: false }) }, skipped: ["securityContext.privileged"] },
  { name: "CAP_SYS_ADMIN, and allowPrivilegeEscalation: false is set", patch: patchOf(context({ capabilities: { add: ["CAP_SYS_ADMIN"], drop: ["ALL"] } })), after: { container: context({ allowPrivilegeEscalation: false }) }, skipped: ["securityContext.capabilities.add"] },
  { name: "procMount Unmasked, and hostUsers: false is removed", before: { pod: { hostUsers: false } }, patch: patchOf(context({ procMount: "Unmasked" })), skipped: ["securityContext.procMount"] },
  { name: "a request of a device without its limit", before: { container: { resources: gpu("limits") } }, patch: patchOf({ resources: gpu("requests") }), skipped: [`resources.requests["nvidia.com/gpu"]`] },
  { name: "a request of huge pages without its limit", before: { container: { resources: { limits: { ...pages, cpu: "1" } } } }, patch: patchOf({ resources: { requests: pages } }), after: { container: { resources: { limits: { cpu: "1" } } } }, skipped: ["resources.requests.hugepages-2Mi"] },
  { name: "huge pages, and cpu is removed", before: { container: { resources: { limits: { cpu: "1" } } } }, patch: patchOf({ resources: { requests: pages, limits: pages } }), skipped: ["resources.limits.hugepages-2Mi", "resources.requests.hugepages-2Mi"] },
  { name: "a limit above the limit of the pod", patch: patchOf({ resources: { limits: { cpu: "2", memory: "1Gi" } } }), after: { pod: { resources: { limits: { cpu: "1" } } } }, skipped: ["resources.limits.cpu"] },
  { name: "requests above the request of the pod", patch: patchOf({ resources: { requests: { cpu: "2", memory: "1Gi" } } }), after: { pod: { resources: { requests: { cpu: "1" } }, containers: [{ name: "main", resources: {} }, { name: "second" }] } }, skipped: ["resources.requests.cpu"] },
  { name: "a request that is above the request of the pod with a sidecar", patch: patchOf({ resources: { requests: { cpu: "1" } } }), after: { pod: { resources: { requests: { cpu: "1" } }, initContainers: [{ name: "s", restartPolicy: "Always", resources: { requests: { cpu: "1m" } } }] } }, skipped: ["resources.requests.cpu"] },
  { name: "a limit that is a request above the request of the pod", patch: patchOf({ resources: { limits: { cpu: "2" } } }), after: { pod: { resources: { requests: { cpu: "1" } } } }, skipped: ["resources.limits.cpu"] },
  { name: "a mount at the path of a device", patch: podPatch({ containers: [{ name: "main", volumeMounts: [mount] }], volumes: [volume] }), after: { container: { volumeDevices: [{ name: "disk", devicePath: "/data" }] } }, skipped: ["volumeMounts[/data]"] },
  { name: "a mount of a volume that is a device", patch: podPatch({ containers: [{ name: "main", volumeMounts: [mount] }], volumes: [volume] }), after: { container: { volumeDevices: [{ name: "lattice-data", devicePath: "/dev/x" }] } }, skipped: ["volumeMounts[/data]"] },
  { name: "fields that Windows does not have", patch: patchOf(context({ runAsUser: 5, runAsNonRoot: true })), after: { pod: { os: { name: "windows" } } }, skipped: ["securityContext.runAsUser"] },
]; // prettier-ignore

const owned = ({ container = {}, pod = {} }: Pod = {}) => ownedDeployment(container, pod);
const names = (skipped: readonly { readonly path: Parameters<typeof pathText>[0] }[]) =>
  skipped.map(({ path }) => pathText(path).replace("spec.template.spec.containers[main].", ""));

describe("a patch that no longer fits after the owner's next write", () => {
  test.each(rows)("keeps the owner's value, is reported and leaves no record: $name", ({ before, patch, after, skipped }) => {
    const first = applyAt(owned(before), patch);
    expect(names(first.skipped)).toEqual([]);
    const sent = { ...owned(after), metadata: first.deployment.metadata };
    const second = expectOk(applyWorkloadPatch(sent, patch, { at: AT, previous: first.deployment, manager: "helm" }));
    expect(names(second.skipped)).toEqual(skipped);
    for (const { path } of second.skipped) expect(fieldAtPath(second.deployment, path)).toEqual(fieldAtPath(owned(after), path));
    expect(JSON.stringify(revertWorkloadPatch(second.deployment).deployment)).toBe(JSON.stringify(owned(after)));
    expect(expectOk(applyWorkloadPatch(second.deployment, patch, { at: AT, previous: second.deployment })).changed).toBe(false);
  });

  test.each(rows)("is patched again when it fits again: $name", ({ before, patch, after }) => {
    const first = applyAt(owned(before), patch).deployment;
    const sent = { ...owned(after), metadata: first.metadata };
    const second = expectOk(applyWorkloadPatch(sent, patch, { at: AT, previous: first })).deployment;
    const again = { ...owned(before), metadata: second.metadata };
    const third = expectOk(applyWorkloadPatch(again, patch, { at: AT, previous: second }));
    expect(third.skipped).toEqual([]);
    expect(fieldAt(third.deployment, "spec")).toEqual(fieldAt(first, "spec"));
  });
});

const fieldAtPath = (object: KubeObject, path: Parameters<typeof withValueAt>[1]): Json | undefined => {
  let found: Json | undefined;
  let at: unknown = object;
  for (const step of path) {
    const list = Array.isArray(at) ? (at as readonly JsonObject[]) : [];
    if (typeof step === "string") found = fieldAt(at, step);
    else found = "key" in step ? list.find((one) => Object.entries(step.key).every(([name, value]) => one[name] === value)) : undefined;
    at = found;
  }
  return found;
};

test("a probe whose action the owner removed is removed, although its times are left by the merge", () => {
  const patch = patchOf({ livenessProbe: { periodSeconds: 20 } });
  const first = applyAt(owned({ container: { livenessProbe: probe } }), patch).deployment;
  const { httpGet: _, ...times } = { ...probe, periodSeconds: 20 };
  const sent = { ...owned({ container: { livenessProbe: times } }), metadata: first.metadata };
  const second = expectOk(applyWorkloadPatch(sent, patch, { at: AT, previous: first }));
  expect(fieldAt(second.deployment, "spec", "template", "spec")).toEqual(fieldAt(owned(), "spec", "template", "spec"));
  expect(names(second.skipped)).toEqual(["livenessProbe"]);
});

test("only the fields that do not fit are left out", () => {
  const patch = patchOf({
    image: "web:2",
    ...context({ allowPrivilegeEscalation: false, runAsUser: 5 }),
    livenessProbe: { periodSeconds: 5 },
  });
  const { deployment, skipped } = applyAt(owned({ container: context({ privileged: true }) }), patch);
  expect(names(skipped)).toEqual(["livenessProbe", "securityContext.allowPrivilegeEscalation"]);
  expect(fieldAt(deployment, "spec", "template", "spec", "containers")).toEqual([
    { name: "main", image: "web:2", resources: {}, imagePullPolicy: "IfNotPresent", securityContext: { privileged: true, runAsUser: 5 } },
  ]);
});

test("an owner's template that is refused without the patch is reported for no field of the patch", () => {
  const patch = patchOf({ image: "web:2", ...context({ runAsUser: 5 }) });
  const pod = owned({ container: { ...context({ privileged: true, allowPrivilegeEscalation: false }), livenessProbe: {} } });
  expect(applyAt(pod, patch).skipped).toEqual([]);
});

describe("a field that is given up to a controller", () => {
  const corrected = (before: Pod, patch: WorkloadPatch) => {
    let live = applyAt(owned(before), patch).deployment;
    for (let minute = 1; minute <= 3; minute += 1) {
      const sent = { ...owned(before), metadata: live.metadata };
      live = expectOk(applyWorkloadPatch(sent, patch, { at: `2026-01-01T00:0${minute}:00Z`, previous: live, manager: "x" })).deployment;
    }
    return expectOk(applyWorkloadPatch(live, patch, { at: "2026-01-01T00:04:00Z", previous: live }));
  };

  test("takes with it the request that does not fit the limit that it has", () => {
    const resources = { requests: { memory: "2Gi" }, limits: { memory: "4Gi" } };
    const { deployment, conflicts, skipped } = corrected(
      { container: { resources: { limits: { memory: "1Gi" } } } },
      patchOf({ resources }),
    );
    expect(names(conflicts)).toEqual(["resources.limits.memory"]);
    expect(names(skipped)).toEqual(["resources.requests.memory"]);
    const containers = fieldAt(deployment, "spec", "template", "spec", "containers") as readonly JsonObject[];
    expect(containers[0]?.["resources"]).toEqual({ limits: { memory: "1Gi" } });
  });
});
