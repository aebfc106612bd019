/** Single writes of an owner to a patched Deployment. The properties have all tools in random order. */
import { describe, expect, test } from "vitest";
import { expectOk } from "#base";
import { fieldAt, type JsonObject, type KubeObject } from "#kube";
import { clientSideApply, replaceObject } from "../../test/builders/owner-tools.ts";
import { AT, ownedDeployment, patchOf } from "../../test/builders/workload-patches.ts";
import { applyWorkloadPatch, RECORD_ANNOTATION, recordOf, REQUEST_ANNOTATION, revertWorkloadPatch } from "./index.ts";
import { applyAt, mainOf, podOf, specOf } from "./applied.test-support.ts";

const LATER = "2026-01-01T01:00:00Z";
const KEY = { secretKeyRef: { name: "web-env", key: "LEVEL" } };
const PATCH = patchOf(
  { image: "web:patched" },
  { envFrom: { main: [{ configMapRef: { name: "web-env" } }] }, variables: { main: { LEVEL: KEY } } },
);
const DETACH = { ...PATCH, patch: {}, envFrom: {}, variables: {}, detach: true as const };
const OWNED = ownedDeployment({ env: [{ name: "LEVEL", value: "info" }] });

const patched = (deployment: KubeObject, previous?: KubeObject, patch = PATCH, at = LATER) =>
  expectOk(applyWorkloadPatch(deployment, patch, { at, previous }));
const LIVE = patched(OWNED, undefined, PATCH, AT).deployment;

describe("a write of the owner", () => {
  test("that changes nothing of its own leaves the stored object as it is, but for the flips", () => {
    const incoming = clientSideApply(LIVE, OWNED, OWNED);
    expect(mainOf(incoming)).toMatchObject({ image: "web:1", env: [{ name: "LATTICE_LEVEL", valueFrom: KEY }, { name: "LEVEL", value: "info" }] }); // prettier-ignore
    const { deployment } = patched(incoming, LIVE);
    expect(specOf(deployment)).toEqual(specOf(LIVE));
    expect(deployment.metadata.labels).toEqual(LIVE.metadata.labels);
  });

  test("with another value makes it the value before, and is no flip", () => {
    const upgraded = ownedDeployment({ image: "web:5", env: [{ name: "LEVEL", value: "warn" }] });
    const { deployment } = patched(clientSideApply(LIVE, OWNED, upgraded), LIVE);
    expect(specOf(deployment)).toEqual(specOf(LIVE));
    expect(JSON.stringify(expectOk(recordOf(deployment)))).not.toContain("flips");
    expect(revertWorkloadPatch(deployment).deployment).toEqual(upgraded);
  });

  test("that drops the record and keeps the rest, as an Update with annotations of its own, does not hide what was before", () => {
    const { [RECORD_ANNOTATION]: _, ...annotations }: Record<string, string> = { ...LIVE.metadata.annotations, note: "own" };
    const incoming = { ...LIVE, metadata: { ...LIVE.metadata, annotations } };
    const { deployment } = patched(incoming, LIVE);
    expect(specOf(revertWorkloadPatch(deployment).deployment)).toEqual(specOf(OWNED));
    expect(deployment.metadata.annotations).toEqual({ ...LIVE.metadata.annotations, note: "own" });
  });

  test("that replaces the whole object makes all its values those before", () => {
    const upgraded = ownedDeployment({ image: "web:patched" });
    const { deployment } = patched(replaceObject(LIVE, OWNED, upgraded), LIVE);
    expect(revertWorkloadPatch(deployment).deployment).toEqual(upgraded);
  });

  test("that restores an older template with its record, as kubectl rollout undo, has the values of that record", () => {
    const changed = patched(LIVE, LIVE, patchOf({ image: "web:patched-2", workingDir: "/w" })).deployment;
    const undone = {
      ...changed,
      metadata: { ...changed.metadata, annotations: LIVE.metadata.annotations ?? {} },
      spec: specOf(LIVE),
    } as KubeObject;
    const { deployment } = patched(undone, changed, patchOf({ image: "web:patched-2", workingDir: "/w" }));
    expect(specOf(deployment)).toEqual(specOf(changed));
    expect(revertWorkloadPatch(deployment).deployment).toEqual(OWNED);
  });

  test.each(["web", "own"])("without a record has its own label of the service, which stays: %s", (value) => {
    const plain = ownedDeployment();
    const labels = { app: "web", "lattice.dev/service": value };
    const template = { ...(fieldAt(plain, "spec", "template") as JsonObject), metadata: { labels } };
    const owned = { ...plain, metadata: { ...plain.metadata, labels }, spec: { ...(specOf(plain) as JsonObject), template } } as KubeObject;
    // as after kubectl rollout undo without the webhook, or when the owner has copied the label
    const marked = { ...owned, metadata: { ...owned.metadata, labels: { ...labels, "lattice.dev/patched": "true" } } };
    expect(revertWorkloadPatch(marked).deployment).toEqual(owned);
    const unreadable = { ...marked, metadata: { ...marked.metadata, annotations: { [RECORD_ANNOTATION]: "{" } } };
    expect(revertWorkloadPatch(unreadable).deployment).toEqual(owned);
    for (const given of [marked, unreadable]) {
      for (const previous of [undefined, given]) {
        const again = patched(given, previous).deployment;
        expect(fieldAt(again, "metadata", "labels", "lattice.dev/service")).toBe("web");
        expect(revertWorkloadPatch(again).deployment).toEqual(owned);
        expect(patched(given, previous, DETACH).deployment).toEqual(owned);
      }
    }
  });

  test("that drops the record of a Deployment which had the label of the service before the patch keeps the owner's label", () => {
    const plain = ownedDeployment();
    const owned = { ...plain, metadata: { ...plain.metadata, labels: { "lattice.dev/service": "own" } } };
    const previous = applyAt(owned, patchOf({ image: "web:2" })).deployment;
    const { annotations: _, ...metadata } = previous.metadata;
    const again = expectOk(applyWorkloadPatch({ ...previous, metadata }, patchOf({ image: "web:2" }), { at: AT, previous })).deployment;
    expect(revertWorkloadPatch(again).deployment).toEqual(owned);
  });

  test("that adds a variable which the patch added, too, keeps only the owner's part of it", () => {
    const patch = patchOf({ env: [{ name: "NEW", valueFrom: KEY }] });
    const live = patched(OWNED, undefined, patch, AT).deployment;
    const upgraded = ownedDeployment({ env: [{ name: "LEVEL", value: "info" }, { name: "NEW", value: "own" }] }); // prettier-ignore
    const { deployment } = patched(clientSideApply(live, OWNED, upgraded), live, patch);
    expect(mainOf(deployment)?.["env"]).toContainEqual({ name: "NEW", value: "own" });
    expect(specOf(revertWorkloadPatch(deployment).deployment)).toEqual(specOf(upgraded));
  });

  const amended: readonly { name: string; patch: JsonObject; change: JsonObject; want: JsonObject }[] = [
    { name: "a mount without a volume", patch: { volumeMounts: [{ name: "v", mountPath: "/v" }] }, change: { volumeMounts: [{ name: "v", mountPath: "/v", readOnly: true }] }, want: {} },
    { name: "a probe without a handler", patch: { livenessProbe: { exec: { command: ["a"] } } }, change: { livenessProbe: { exec: { command: ["a"] }, timeoutSeconds: 9 } }, want: {} },
    { name: "a probe with another handler", patch: { livenessProbe: { exec: { command: ["a"] } } }, change: { livenessProbe: { tcpSocket: { port: 1 }, timeoutSeconds: 9 } }, want: { livenessProbe: { tcpSocket: { port: 1 }, timeoutSeconds: 9 } } },
    { name: "a variable without a value", patch: { env: [{ name: "X", value: "1" }] }, change: { env: [{ name: "X" }] }, want: { env: [{ name: "X" }] } },
  ]; // prettier-ignore
  test.each(amended)("to what the patch added is reverted to what is valid alone: $name", ({ patch, change, want }) => {
    const plain = ownedDeployment();
    const live = patched(plain, undefined, patchOf(patch), AT).deployment;
    const containers = [{ ...mainOf(live), ...change }];
    const template = { ...(fieldAt(live, "spec", "template") as JsonObject), spec: { ...podOf(live), containers } };
    const edited = { ...live, spec: { ...(specOf(live) as JsonObject), template } } as KubeObject;
    expect(mainOf(revertWorkloadPatch(edited).deployment)).toEqual({ ...mainOf(plain), ...want });
  }); // prettier-ignore
});

describe("a patch with detach", () => {
  test("gives the owner's object, and lists the fields", () => {
    const annotations = { ...LIVE.metadata.annotations, [REQUEST_ANNOTATION]: "detach-1" };
    const requested = { ...LIVE, metadata: { ...LIVE.metadata, annotations } };
    const { deployment, reverted, changed } = patched(requested, LIVE, DETACH);
    expect(deployment).toEqual(OWNED);
    expect(reverted?.restored).toHaveLength(6);
    expect(reverted?.kept).toEqual([]);
    expect(changed).toBe(true);
  });

  test("changes nothing the second time", () => {
    expect(patched(OWNED, OWNED, DETACH)).toMatchObject({ changed: false, deployment: OWNED });
  });

  test("takes off the patch in the same write as an upgrade, also when the record was dropped", () => {
    const upgraded = ownedDeployment({ image: "web:5", env: [{ name: "LEVEL", value: "info" }] });
    expect(patched(clientSideApply(LIVE, OWNED, upgraded), LIVE, DETACH).deployment).toEqual(upgraded);
    expect(patched(replaceObject(LIVE, OWNED, upgraded), LIVE, DETACH).deployment).toEqual(upgraded);
    const { [RECORD_ANNOTATION]: _, ...annotations } = LIVE.metadata.annotations ?? {};
    const dropped = patched({ ...LIVE, metadata: { ...LIVE.metadata, annotations } }, LIVE, DETACH).deployment;
    expect(specOf(dropped)).toEqual(specOf(OWNED));
  });
});
