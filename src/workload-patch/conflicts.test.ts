/** When a field is given up, for how long, and how it differs from an upgrade. */
import { describe, expect, test } from "vitest";
import { expectOk, timestampOf } from "#base";
import { fieldAt, type Json, type JsonObject, type KubeObject } from "#kube";
import { replaceObject, replaceSpec } from "../../test/builders/owner-tools.ts";
import { ownedDeployment, patchOf } from "../../test/builders/workload-patches.ts";
import { applyWorkloadPatch, pathText, recordOf, revertWorkloadPatch, type AppliedPatch, type WorkloadPatch } from "./index.ts";
import { mainOf } from "./applied.test-support.ts";

const START = Date.parse("2026-01-01T00:00:00Z");
const minute = (minutes: number) => timestampOf(START + minutes * 60_000);
const IMAGE = patchOf({ image: "web:patched" });
const imageOf = (deployment: KubeObject): Json | undefined => mainOf(deployment)?.["image"];

/** The live Deployment with other fields of its container, as a manager sends them. */
function sent(live: KubeObject, container: JsonObject, manager = "argocd"): KubeObject {
  const spec = fieldAt(ownedDeployment({ ...mainOf(live), ...container }), "spec");
  const path = { "f:spec": { "f:template": { "f:spec": { "f:containers": { 'k:{"name":"main"}': { "f:image": {}, "f:env": {} } } } } } };
  const managedFields = [{ manager, operation: "Apply", time: minute(0), fieldsV1: path }];
  return {
    ...live,
    metadata: { ...live.metadata, managedFields },
    spec: { ...(spec as JsonObject), template: withLabels(live) },
  } as KubeObject;

  function withLabels(from: KubeObject): JsonObject {
    return { ...(fieldAt(spec, "template") as JsonObject), metadata: fieldAt(from, "spec", "template", "metadata") };
  }
}

/** `manager`: of the request. `owner`: of the field, in managedFields. */
type Sending = { readonly patch?: WorkloadPatch; readonly dryRun?: boolean; readonly manager?: string; readonly owner?: string };

/** Another manager sends these containers, each at its minute. */
function send(
  writes: readonly (readonly [number, JsonObject])[],
  { patch = IMAGE, dryRun, manager, owner }: Sending = {},
  from?: KubeObject,
) {
  const first = from ?? expectOk(applyWorkloadPatch(ownedDeployment({ image: "web:1" }), patch, { at: minute(0) })).deployment;
  let applied: AppliedPatch = { deployment: first, changed: false, missingContainers: [], conflicts: [], skipped: [] };
  for (const [at, container] of writes) {
    const previous = applied.deployment;
    applied = expectOk(applyWorkloadPatch(sent(previous, container, owner), patch, { at: minute(at), previous, dryRun, manager }));
  }
  return applied;
}

const again = { image: "web:1" };

describe("a manager that sets a patched field back", () => {
  test("is overruled twice, and has its value from the third time in ten minutes", () => {
    expect(
      imageOf(
        send([
          [1, again],
          [2, again],
        ]).deployment,
      ),
    ).toBe("web:patched");
    const third = send([
      [1, again],
      [2, again],
      [3, again],
    ]);
    expect(imageOf(third.deployment)).toBe("web:1");
    expect(third.conflicts).toEqual([expect.objectContaining({ manager: "argocd", operation: "Apply", until: minute(13) })]);
    expect(third.conflicts.map(({ path }) => pathText(path))).toEqual(["spec.template.spec.containers[main].image"]);
  });

  const rows: readonly { name: string; writes: readonly (readonly [number, JsonObject])[]; sending?: Sending }[] = [
    { name: "three times in more than ten minutes", writes: [[1, again], [7, again], [12, again]] },
    { name: "three upgrades that change something else too", writes: [[1, { ...again, workingDir: "/1" }], [2, { ...again, workingDir: "/2" }], [3, { ...again, workingDir: "/3" }]] },
    { name: "three upgrades of the field itself", writes: [[1, { image: "web:2" }], [2, { image: "web:3" }], [3, { image: "web:4" }]] },
    { name: "three dry runs", writes: [[1, again], [2, again], [3, again], [4, again]], sending: { dryRun: true } },
    { name: "three lists of sources without ours, because the list is always sent as a whole", writes: [[1, { envFrom: [] }], [2, { envFrom: [] }], [3, { envFrom: [] }]], sending: { patch: patchOf({}, { envFrom: { main: [{ configMapRef: { name: "x" } }] } }) } },
  ]; // prettier-ignore
  test.each(rows)("is in no conflict: $name", ({ writes, sending }) => {
    const { conflicts, deployment } = send(writes, sending);
    expect(conflicts).toEqual([]);
    expect(JSON.stringify(expectOk(recordOf(deployment)))).not.toContain("backoff");
  });

  const four = ([1, 2, 3, 4] as const).map((at) => [at, again] as const);
  test.each(["helm", "kubectl", "kubectl-client-side-apply", "kubectl-replace"])("is in no conflict: %s, run again and again", (owner) => {
    const { conflicts, deployment } = send(four, { owner, manager: owner });
    expect([imageOf(deployment), conflicts]).toEqual(["web:patched", []]);
    expect(JSON.stringify(expectOk(recordOf(deployment)))).not.toContain("flips");
  });

  test("is in no conflict: kubectl, run again and again while the webhook does not answer", () => {
    let live = send([]).deployment;
    for (const at of [1, 2, 3, 4]) {
      const stored = sent(live, again, "kubectl-client-side-apply");
      // the controller's request for the patch
      live = expectOk(applyWorkloadPatch(stored, IMAGE, { at: minute(at), previous: stored, manager: "lattice" })).deployment;
      expect(imageOf(live)).toBe("web:patched");
    }
  });

  test("is in conflict as a controller, also when the Deployment was created by a tool", () => {
    const installed = send([[1, again]], { owner: "helm", manager: "helm" }).deployment;
    expect(send(four, { owner: "self-healing", manager: "self-healing" }, installed).conflicts).toMatchObject([
      { manager: "self-healing" },
    ]);
  });

  test("a dry run has the same result as the stored object", () => {
    const { deployment } = send([]);
    const dry = expectOk(applyWorkloadPatch(sent(deployment, again), IMAGE, { at: minute(1), previous: deployment, dryRun: true }));
    expect(dry.deployment.metadata.annotations).toEqual(deployment.metadata.annotations);
    expect(fieldAt(dry.deployment, "spec")).toEqual(fieldAt(deployment, "spec"));
  });

  test("is found when a later webhook changes the stored object", () => {
    let live = send([]).deployment;
    for (const at of [1, 2, 3]) {
      const stored = sent(live, again, "other-webhook");
      live = expectOk(applyWorkloadPatch(stored, IMAGE, { at: minute(at), previous: stored, manager: "lattice" })).deployment;
    }
    expect(expectOk(applyWorkloadPatch(live, IMAGE, { at: minute(4) })).conflicts).toMatchObject([{ manager: "other-webhook" }]);
  });

  test("is named by the request when no manager owns the field", () => {
    const added = patchOf({ workingDir: "/patched" });
    const { deployment } = send([], { patch: added });
    let live = deployment;
    for (const at of [1, 2, 3]) {
      const incoming = sent(live, {}, "cleaner");
      const { workingDir: _, ...bare } = mainOf(incoming) ?? {};
      const without = { ...incoming, spec: { ...(fieldAt(incoming, "spec") as JsonObject), template: { ...(fieldAt(incoming, "spec", "template") as JsonObject), spec: { ...(fieldAt(incoming, "spec", "template", "spec") as JsonObject), containers: [bare] } } } } as KubeObject; // prettier-ignore
      live = expectOk(applyWorkloadPatch(without, added, { at: minute(at), previous: live })).deployment;
    }
    expect(expectOk(applyWorkloadPatch(live, added, { at: minute(4) })).conflicts).toMatchObject([{ manager: "cleaner" }]);
    expect(mainOf(live)?.["workingDir"]).toBeUndefined();
  });
});

describe("an owner that replaces the spec again and again", () => {
  test.each([
    { name: "with the object that it read", tool: replaceSpec },
    { name: "with its manifest", tool: replaceObject },
  ])("gets its own values back, and the patch keeps what it only added: $name", ({ tool }) => {
    const owned = ownedDeployment({ image: "web:1" });
    const patch = patchOf(
      { image: "web:patched", env: [{ name: "A", value: "1" }] },
      { envFrom: { main: [{ configMapRef: { name: "x" } }] } },
    );
    let live = expectOk(applyWorkloadPatch(owned, patch, { at: minute(0) })).deployment;
    for (const at of [1, 2, 3]) {
      live = expectOk(applyWorkloadPatch(tool(live, owned, owned), patch, { at: minute(at), previous: live })).deployment;
    }
    const { conflicts } = expectOk(applyWorkloadPatch(live, patch, { at: minute(4) }));
    expect(conflicts.map(({ path }) => pathText(path))).toEqual(["spec.template.spec.containers[main].image"]);
    expect(mainOf(live)).toMatchObject({ image: "web:1", env: [{ name: "A", value: "1" }], envFrom: [{ configMapRef: { name: "x" } }] });
  });
});

describe("a field that is given up", () => {
  const given = () =>
    send([
      [1, again],
      [2, again],
      [3, again],
    ]).deployment;

  test("stays the other manager's, whatever it writes, until the time is over", () => {
    const { deployment } = send([[5, { image: "web:9" }]], {}, given());
    expect(imageOf(deployment)).toBe("web:9");
    expect(imageOf(expectOk(applyWorkloadPatch(deployment, IMAGE, { at: minute(12) })).deployment)).toBe("web:9");
    expect(imageOf(expectOk(applyWorkloadPatch(deployment, IMAGE, { at: minute(13) })).deployment)).toBe("web:patched");
  });

  test("is patched again at once when the patch changes", () => {
    const changed = expectOk(applyWorkloadPatch(given(), patchOf({ image: "web:other" }), { at: minute(4) }));
    expect(imageOf(changed.deployment)).toBe("web:other");
    expect(changed.conflicts).toEqual([]);
  });

  test("is left alone by a revert, and not listed as changed", () => {
    const { deployment, kept } = revertWorkloadPatch(given());
    expect(fieldAt(deployment, "spec")).toEqual(fieldAt(ownedDeployment({ image: "web:1" }), "spec"));
    expect(kept).toEqual([]);
  });

  test("is given up for longer each time, for one hour at most", () => {
    let live = given();
    const waits: number[] = [];
    let now = 3;
    for (let round = 0; round < 5; round += 1) {
      const { conflicts } = expectOk(applyWorkloadPatch(live, IMAGE, { at: minute(now) }));
      const until = Date.parse(conflicts[0]?.until ?? "");
      waits.push((until - START) / 60_000 - now);
      now = (until - START) / 60_000;
      live = expectOk(applyWorkloadPatch(live, IMAGE, { at: minute(now) })).deployment;
      expect(imageOf(live)).toBe("web:patched");
      live = send(
        [
          [now + 1, again],
          [now + 2, again],
          [now + 3, again],
        ],
        {},
        live,
      ).deployment;
      now += 3;
    }
    expect(waits).toEqual([10, 20, 40, 60, 60]);
  });

  test("starts with the shortest wait again after an hour without conflict", () => {
    const live = expectOk(applyWorkloadPatch(given(), IMAGE, { at: minute(13) })).deployment;
    const later = send(
      [
        [100, again],
        [101, again],
        [102, again],
      ],
      {},
      live,
    );
    expect(later.conflicts).toMatchObject([{ until: minute(112) }]);
  });

  test("does not stay given up when the record has a time far ahead", () => {
    const text = JSON.stringify(given()).replaceAll("2026-01-01T00:13:00Z", "2999-01-01T00:00:00Z");
    expect(imageOf(expectOk(applyWorkloadPatch(JSON.parse(text) as KubeObject, IMAGE, { at: minute(5) })).deployment)).toBe("web:patched");
  });
});
