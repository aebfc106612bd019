import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { expectOk } from "#base";
import { type JsonObject, type KubeObject } from "#kube";
import { ownerDeployments, workloadPatches } from "../../test/builders/random-workloads.ts";
import { applyWorkloadPatch } from "./apply.ts";
import { sameButForPatch } from "./conflicts.ts";
import { mergeWorkloadPatch } from "./merge-patch.ts";
import { jsonOf, ownerObject } from "./owner-object.ts";
import { RECORD_ANNOTATION } from "./patch-record.ts";
import { changesUnpatched } from "./unpatched-changes.ts";
import type { WorkloadPatch } from "./workload-patch.ts";

const at = "2026-01-01T00:00:00Z";

function patched(deployment: KubeObject, patch: WorkloadPatch): KubeObject {
  return expectOk(applyWorkloadPatch(deployment, patch, { at })).deployment;
}

/** The comparison that the quick answer replaces. */
function changesMore(deployment: KubeObject, previous: KubeObject, patch: WorkloadPatch): boolean {
  const merged = (object: JsonObject) => mergeWorkloadPatch(object, patch, () => false).object;
  return !sameButForPatch(merged(ownerObject(deployment, previous).object), merged(ownerObject(previous, undefined).object));
}

function quickly(deployment: KubeObject, previous: KubeObject, patch: WorkloadPatch): boolean {
  return changesUnpatched({ deployment, previous }, patch, ownerObject(deployment, previous).recorded);
}

type Edit = (deployment: KubeObject) => KubeObject;

const annotate =
  (annotations: Readonly<Record<string, string>>): Edit =>
  (deployment) => ({
    ...deployment,
    metadata: { ...deployment.metadata, annotations: { ...deployment.metadata.annotations, ...annotations } },
  });
const label =
  (labels: Readonly<Record<string, string>>): Edit =>
  (deployment) => ({ ...deployment, metadata: { ...deployment.metadata, labels: { ...deployment.metadata.labels, ...labels } } });
const inSpec =
  (fields: JsonObject): Edit =>
  (deployment) =>
    ({ ...deployment, spec: { ...(jsonOf(deployment)["spec"] as JsonObject), ...fields } }) as KubeObject;

const texts = fc.dictionary(fc.constantFrom("a", "team", "lattice.dev/config-hash", "lattice.dev/service", RECORD_ANNOTATION), fc.string());
const edits: fc.Arbitrary<Edit> = fc.oneof(
  texts.map(annotate),
  texts.map(label),
  fc.record({ replicas: fc.nat(9) }).map(inSpec),
  fc.constant((deployment: KubeObject) => deployment),
);

test("it is right whenever it says that a write changes more than patched fields", () => {
  fc.assert(
    fc.property(
      ownerDeployments,
      ownerDeployments,
      workloadPatches,
      workloadPatches,
      fc.array(edits, { maxLength: 2 }),
      fc.constantFrom("owner", "other", "previous"),
      (owned, other, patch, earlier, changes, from) => {
        const previous = patched(owned, earlier);
        const start = { owner: owned, other, previous }[from];
        const deployment = changes.reduce((object, edit) => edit(object), start);
        if (quickly(deployment, previous, patch)) expect(changesMore(deployment, previous, patch)).toBe(true);
      },
    ),
    { numRuns: 300 },
  );
});

describe("a write of the owner's Deployment", () => {
  const owned = {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name: "web", namespace: "shop", labels: { app: "web" } },
    spec: {
      replicas: 1,
      selector: { matchLabels: { app: "web" } },
      template: { metadata: { labels: { app: "web" } }, spec: { containers: [{ name: "main", image: "a" }] } },
    },
  } as unknown as KubeObject;
  const patch: WorkloadPatch = {
    version: 1,
    service: "shop/web",
    target: { namespace: "shop", name: "web" },
    patch: {
      metadata: { annotations: { note: "ours" } },
      spec: { template: { spec: { containers: [{ name: "main", image: "b" }] } } },
    },
    envFrom: {},
    variables: {},
  };
  const previous = patched(owned, patch);
  const edited = annotate({
    [RECORD_ANNOTATION]: JSON.stringify({
      version: 1,
      service: "shop/web",
      fields: [{ path: ["metadata", "labels"], after: {}, since: at }],
    }),
  });
  const rows: { name: string; edit: Edit; want: boolean }[] = [
    { name: "with nothing changed is not known to change more", edit: (same) => same, want: false },
    { name: "with another annotation changes more", edit: annotate({ touched: "1" }), want: true },
    { name: "with another label changes more", edit: label({ team: "a" }), want: true },
    { name: "with more replicas changes more", edit: inSpec({ replicas: 2 }), want: true },
    { name: "with another value of a patched annotation is not known to change more", edit: annotate({ note: "theirs" }), want: false },
    {
      name: "with annotations of tools is not known to change more",
      edit: annotate({ "deployment.kubernetes.io/revision": "2" }),
      want: false,
    },
    { name: "with another pod template is not known to change more", edit: inSpec({ template: {} }), want: false },
    { name: "with an edited record of all labels is not known to change more", edit: edited, want: false },
  ];
  test.each(rows)("$name", ({ edit, want }) => {
    expect(quickly(edit(owned), previous, patch)).toBe(want);
  });
});
