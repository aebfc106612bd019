/** What a workload patch changes, and that a revert changes it back. */
import { describe, expect, test } from "vitest";
import { expectOk } from "#base";
import { fieldAt, field, type JsonObject, type KubeObject } from "#kube";
import { AT, ownedDeployment, patchOf, podPatch } from "../../test/builders/workload-patches.ts";
import {
  applyWorkloadPatch,
  jsonPatchBetween,
  pathText,
  recordOf,
  RECORD_ANNOTATION,
  revertWorkloadPatch,
  type WorkloadPatch,
} from "./index.ts";
import { applyAt, mainOf, podOf, specOf } from "./applied.test-support.ts";

const OURS = { configMapRef: { name: "web-env" } };

type Row = { name: string; container?: JsonObject; pod?: JsonObject; patch: WorkloadPatch; want: JsonObject };

const rows: readonly Row[] = [
  { name: "an image is replaced", patch: patchOf({ image: "web:2" }), want: { image: "web:2" } },
  { name: "a command is replaced as a whole", container: { command: ["a", "b"] }, patch: patchOf({ command: ["c"] }), want: { command: ["c"] } },
  { name: "null removes a field", container: { workingDir: "/a", stdin: true }, patch: patchOf({ workingDir: null }), want: { stdin: true } },
  { name: "a new variable comes first", container: { env: [{ name: "A", value: "1" }] }, patch: patchOf({ env: [{ name: "B", value: "2" }] }), want: { env: [{ name: "B", value: "2" }, { name: "A", value: "1" }] } },
  { name: "a value of the owner is replaced", container: { env: [{ name: "A", value: "1" }] }, patch: patchOf({ env: [{ name: "A", value: "2" }] }), want: { env: [{ name: "A", value: "2" }] } },
  { name: "of two variables with one name the last is replaced, because it has precedence", container: { env: [{ name: "A", value: "1" }, { name: "A", value: "2" }] }, patch: patchOf({ env: [{ name: "A", value: "3" }] }), want: { env: [{ name: "A", value: "1" }, { name: "A", value: "3" }] } },
  { name: "sources of variables come last", container: { envFrom: [{ secretRef: { name: "own" } }] }, patch: patchOf({}, { envFrom: { main: [OURS] } }), want: { envFrom: [{ secretRef: { name: "own" } }, OURS] } },
  { name: "sources of variables are created", patch: patchOf({}, { envFrom: { main: [OURS] } }), want: { envFrom: [OURS] } },
  { name: "a source that the owner has is not added again", container: { envFrom: [OURS, { secretRef: { name: "own" } }] }, patch: patchOf({}, { envFrom: { main: [OURS] } }), want: { envFrom: [OURS, { secretRef: { name: "own" } }] } },
  { name: "limits are merged, in canonical form", container: { resources: { limits: { cpu: "500m" } } }, patch: patchOf({ resources: { limits: { cpu: "1000m", memory: "1024Mi" } } }), want: { resources: { limits: { cpu: "1", memory: "1Gi" } } } },
  { name: "an equal quantity in another form is not a change", container: { resources: { limits: { cpu: "1000m" } } }, patch: patchOf({ resources: { limits: { cpu: "1" } } }), want: { resources: { limits: { cpu: "1000m" } } } },
  { name: "ports with one number and two protocols are two ports", container: { ports: [{ containerPort: 53, protocol: "UDP" }] }, patch: patchOf({ ports: [{ containerPort: 53, name: "dns" }] }), want: { ports: [{ containerPort: 53, name: "dns", protocol: "TCP" }, { containerPort: 53, protocol: "UDP" }] } },
  { name: "a probe replaces a handler of the same type and keeps the owner's times", container: { livenessProbe: { tcpSocket: { port: 1, host: "x" }, periodSeconds: 7 } }, patch: patchOf({ livenessProbe: { tcpSocket: { port: 80 } } }), want: { livenessProbe: { periodSeconds: 7, tcpSocket: { port: 80 }, timeoutSeconds: 1, successThreshold: 1, failureThreshold: 3 } } },
  { name: "a mount at the owner's path is replaced as a whole", container: { volumeMounts: [{ name: "own", mountPath: "/a", subPath: "x" }] }, patch: patchOf({ volumeMounts: [{ name: "files", mountPath: "/a", readOnly: false }] }), want: { volumeMounts: [{ name: "files", mountPath: "/a" }] } },
  { name: "a security context is merged", container: { securityContext: { runAsUser: 5 } }, patch: patchOf({ securityContext: { runAsNonRoot: true } }), want: { securityContext: { runAsUser: 5, runAsNonRoot: true } } },
  { name: "null lists count as absent", container: { env: null, envFrom: null }, patch: patchOf({ env: [{ name: "B", value: "2" }] }, { envFrom: { main: [OURS] } }), want: { env: [{ name: "B", value: "2" }], envFrom: [OURS] } },
  { name: "a field of an unexpected type is replaced", container: { env: "x" }, patch: patchOf({ env: [{ name: "B", value: "2" }] }), want: { env: [{ name: "B", value: "2" }] } },
]; // prettier-ignore

describe("a workload patch on a container", () => {
  test.each(rows)("$name", ({ container, pod, patch, want }) => {
    const owned = ownedDeployment(container, pod);
    const { deployment } = applyAt(owned, patch);
    expect(mainOf(deployment)).toMatchObject(want);
    for (const name of Object.keys(want)) expect(field(mainOf(deployment), name)).toEqual(want[name]);
  });

  test.each(rows)("is reverted exactly: $name", ({ container, pod, patch }) => {
    const owned = ownedDeployment(container, pod);
    const reverted = revertWorkloadPatch(applyAt(owned, patch).deployment);
    expect(JSON.stringify(reverted.deployment)).toBe(JSON.stringify(owned));
    expect(reverted.kept).toEqual([]);
  });

  test.each(rows)("is idempotent: $name", ({ container, pod, patch }) => {
    const { deployment, changed } = applyAt(ownedDeployment(container, pod), patch);
    const again = expectOk(applyWorkloadPatch(deployment, patch, { at: "2027-01-01T00:00:00Z" }));
    expect(changed).toBe(true);
    expect(again).toEqual({ deployment, changed: false, missingContainers: [], conflicts: [], skipped: [] });
    expect(again.deployment).toBe(deployment);
  });
});

describe("a workload patch on a Deployment", () => {
  test("labels the Deployment and its pods, never the selector", () => {
    const { deployment } = applyAt(ownedDeployment(), patchOf({}));
    expect(deployment.metadata.labels).toEqual({ app: "web", "lattice.dev/patched": "true", "lattice.dev/service": "web" });
    expect(fieldAt(deployment, "spec", "template", "metadata", "labels")).toEqual({ app: "web", "lattice.dev/service": "web" });
    expect(fieldAt(deployment, "spec", "selector")).toEqual({ matchLabels: { app: "web" } });
  });

  test("volumes come first, with the defaults of the server", () => {
    const owned = ownedDeployment({}, { volumes: [{ name: "own", emptyDir: {} }] });
    const { deployment } = applyAt(owned, podPatch({ volumes: [{ name: "files", configMap: { name: "web-files" } }] }));
    const files = { name: "files", configMap: { name: "web-files", defaultMode: 420 } };
    expect(field(podOf(deployment), "volumes")).toEqual([files, { name: "own", emptyDir: {} }]);
  });

  test("missing containers are reported, never created", () => {
    const patch = podPatch(
      { containers: [{ name: "b", image: "x" }], initContainers: [{ name: "i", image: "x" }] },
      { envFrom: { c: [OURS] } },
    );
    const { deployment, missingContainers } = applyAt(ownedDeployment(), patch);
    expect(missingContainers).toEqual(["b", "c", "i"]);
    expect(podOf(deployment)).toEqual(podOf(ownedDeployment()));
  });

  describe("a container that the Deployment has as an init container", () => {
    const init = { name: "i", image: "a", env: [{ name: "LEVEL", value: "info" }] };
    const sidecar = { ...init, restartPolicy: "Always" };
    const LEVEL = { configMapKeyRef: { name: "web-env", key: "LEVEL" } };
    const variables = { envFrom: { i: [OURS] }, variables: { i: { LEVEL } } };
    const probe = { tcpSocket: { port: 80 }, timeoutSeconds: 1, periodSeconds: 10, successThreshold: 1, failureThreshold: 3 };
    const env = [
      { name: "LATTICE_LEVEL", valueFrom: LEVEL },
      { name: "LEVEL", value: "$(LATTICE_LEVEL)" },
    ];

    test.each([
      { name: "all fields", given: init, patch: { image: "b" }, want: { image: "b" }, skipped: [] },
      { name: "a probe of a sidecar", given: sidecar, patch: { livenessProbe: probe }, want: { livenessProbe: probe }, skipped: [] },
      {
        name: "all but a probe, where it runs to completion",
        given: init,
        patch: { image: "b", livenessProbe: probe },
        want: { image: "b" },
        skipped: [
          [
            "spec.template.spec.initContainers[i].livenessProbe",
            "an init container without restartPolicy: Always runs to completion and has no livenessProbe; remove it from the service",
          ],
        ],
      },
    ])("is patched there, recorded and reverted: $name", ({ given, patch: fields, want, skipped }) => {
      const owned = ownedDeployment({}, { initContainers: [{ name: "other", image: "o" }, given] });
      const main = { name: "main", image: "web:2" };
      const patch = podPatch({ containers: [main, { name: "i", ...fields }] }, variables);
      const applied = applyAt(owned, patch);
      expect(applied.missingContainers).toEqual([]);
      expect(field(podOf(applied.deployment), "initContainers")).toEqual([
        { name: "other", image: "o" },
        { ...given, ...want, env, envFrom: [OURS] },
      ]);
      expect(mainOf(applied.deployment)).toMatchObject(main);
      expect(applied.skipped.map(({ path, reason }) => [pathText(path), reason])).toEqual(skipped);
      expect(expectOk(applyWorkloadPatch(applied.deployment, patch, { at: "2027-01-01T00:00:00Z" })).changed).toBe(false);
      const reverted = revertWorkloadPatch(applied.deployment);
      expect(JSON.stringify(reverted.deployment)).toBe(JSON.stringify(owned));
      expect(reverted.restored.map(pathText)).toContain("spec.template.spec.initContainers[i].env[LEVEL]");
    });

    test("is found again when its owner moves it to the other containers", () => {
      const owned = ownedDeployment({}, { initContainers: [init] });
      const patch = podPatch({ containers: [{ name: "i", image: "b" }] });
      const live = applyAt(owned, patch).deployment;
      const pod = { containers: [mainOf(owned), { name: "i", image: "a" }], serviceAccountName: "web" };
      const moved = { ...live, spec: { ...(specOf(live) as JsonObject), template: { metadata: { labels: { app: "web" } }, spec: pod } } };
      const again = expectOk(applyWorkloadPatch(moved as unknown as KubeObject, patch, { at: AT, previous: live }));
      expect(again.missingContainers).toEqual([]);
      expect(field(podOf(again.deployment), "containers")).toMatchObject([{ name: "main" }, { name: "i", image: "b" }]);
      expect(podOf(revertWorkloadPatch(again.deployment).deployment)).toEqual(pod);
    });

    test("of two with one name, the one that is no init container is patched", () => {
      const owned = ownedDeployment({}, { initContainers: [{ name: "main", image: "a" }] });
      const { deployment } = applyAt(owned, patchOf({ image: "b" }));
      expect(field(podOf(deployment), "initContainers")).toEqual([{ name: "main", image: "a" }]);
      expect(mainOf(deployment)).toMatchObject({ image: "b" });
    });
  });

  test("the record names each field with its value before and after, and the time", () => {
    const { deployment } = applyAt(ownedDeployment(), patchOf({ image: "web:2" }));
    const fields = expectOk(recordOf(deployment))?.fields ?? [];
    expect(fields).toContainEqual({
      path: ["spec", "template", "spec", "containers", { key: { name: "main" } }, "image"],
      before: "web:1",
      after: "web:2",
      since: AT,
    });
  });

  test("a field that the next patch no longer has is restored", () => {
    const first = applyAt(ownedDeployment(), patchOf({ image: "web:2", env: [{ name: "A", value: "1" }] })).deployment;
    const second = expectOk(applyWorkloadPatch(first, patchOf({ workingDir: "/w" }), { at: "2026-01-02T00:00:00Z" })).deployment;
    expect(mainOf(second)).toEqual({ ...(mainOf(ownedDeployment()) as JsonObject), workingDir: "/w" });
    expect(JSON.stringify(specOf(revertWorkloadPatch(second).deployment))).toBe(JSON.stringify(specOf(ownedDeployment())));
  });

  test("is refused when the selector would no longer match, and nothing is changed", () => {
    const owned = ownedDeployment();
    const patch = patchOf({}, { patch: { spec: { template: { metadata: { labels: { app: "other" } } } } } });
    expect(applyWorkloadPatch(owned, patch, { at: AT })).toMatchObject({ ok: false, error: { kind: "selector" } });
  });

  test("is refused when the record would not fit, and nothing is changed", () => {
    const owned = ownedDeployment({ args: ["x".repeat(200_000)] });
    const large = { ...owned, metadata: { ...owned.metadata, annotations: { note: "ä".repeat(50_000) } } };
    expect(applyWorkloadPatch(large, patchOf({ args: [] }), { at: AT })).toMatchObject({ ok: false, error: { kind: "record-too-large" } });
    const map = Object.fromEntries(Array.from({ length: 700 }, (_, at) => [`a${at}`, ""]));
    const many = podPatch(
      {},
      { patch: { metadata: { annotations: map, labels: map }, spec: { template: { metadata: { labels: map } } } } },
    );
    // the next review could not read the record, and would take the patched values for the owner's
    expect(applyWorkloadPatch(ownedDeployment(), many, { at: AT })).toMatchObject({
      ok: false,
      error: { kind: "record-too-large", message: "the patch changes more than 2000 fields of Deployment web; patch fewer" },
    });
    expect(applyWorkloadPatch(owned, patchOf({ args: [] }), { at: AT })).toMatchObject({ ok: true });
  });

  test.each([
    { name: "another kind", given: { ...ownedDeployment(), kind: "StatefulSet" } },
    { name: "another group", given: { ...ownedDeployment(), apiVersion: "extensions/v1" } },
    { name: "no pod template", given: { ...ownedDeployment(), spec: { template: null } } as KubeObject },
  ])("$name is a problem", ({ given }) => {
    expect(applyWorkloadPatch(given, patchOf({}), { at: AT })).toMatchObject({ ok: false, error: { kind: "not-a-deployment" } });
  });

  test("the JSON Patch has only what differs", () => {
    const owned = ownedDeployment({ env: [{ name: "A", value: "1" }] });
    const { deployment } = applyAt(owned, patchOf({ image: "web:2", env: [{ name: "B", value: "2" }] }));
    expect(jsonPatchBetween(owned, deployment)).toEqual([
      { op: "add", path: "/metadata/labels/lattice.dev~1service", value: "web" },
      { op: "add", path: "/metadata/labels/lattice.dev~1patched", value: "true" },
      { op: "add", path: "/metadata/annotations", value: { [RECORD_ANNOTATION]: expect.any(String) as string } },
      { op: "add", path: "/spec/template/metadata/labels/lattice.dev~1service", value: "web" },
      { op: "replace", path: "/spec/template/spec/containers/0/image", value: "web:2" },
      { op: "add", path: "/spec/template/spec/containers/0/env/0", value: { name: "B", value: "2" } },
    ]);
  });
});
