/**
 * Compiled clusters of all providers, and the pools of a cell, on a real API server with the published CRDs of Cluster API, its providers and Cilium: every object is accepted under
 * strict validation, without a warning, and applying it again changes nothing. No controller runs.
 */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { describeObject, fieldAt, type JsonObject, type KubeObject } from "#kube";
import { ownExampleObjects, publishedExampleObjects } from "../builders/example-clusters.ts";
import { COMPILED_CLUSTER_CRDS, installCrds, publishedCrds, realPlane, type RealPlane } from "./harness/index.ts";

const rows = [...publishedExampleObjects(), ...ownExampleObjects().map((object) => ({ object, once: undefined }))].map((given) => ({
  name: describeObject(given.object),
  given,
}));

let plane: RealPlane;
let unavailable: string | undefined;

beforeAll(async () => {
  // a separate plane: other stories test an operator without these CRDs
  plane = await realPlane({ controllerManager: "absent" });
  const crds = await publishedCrds(COMPILED_CLUSTER_CRDS);
  if (crds.ok) await installCrds(plane, crds.value);
  else unavailable = crds.error;
  if (unavailable !== undefined) console.log(`compiled clusters are not checked on a real API server: ${unavailable}`);
});

afterAll(() => plane.stop());

const PLURALS: Readonly<Record<string, string>> = {
  AWSClusterStaticIdentity: "awsclusterstaticidentities",
  CiliumL2AnnouncementPolicy: "ciliuml2announcementpolicies",
};

function pathOf({ apiVersion, kind, metadata }: KubeObject): string {
  const root = apiVersion.includes("/") ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
  const plural = PLURALS[kind] ?? `${kind.toLowerCase()}s`;
  return `${root}${metadata.namespace === undefined ? "" : `/namespaces/${metadata.namespace}`}/${plural}/${metadata.name}`;
}

function apply(object: KubeObject, manager = "lattice") {
  const path = `${pathOf(object)}?fieldManager=${manager}&force=true&fieldValidation=Strict`;
  return plane.request({ method: "PATCH", path, body: object, contentType: "application/apply-patch+yaml" });
}

describe("each object of a compiled cluster", () => {
  test.for(rows)("is accepted, without a warning: $name", async ({ given: { object, once } }, { skip }) => {
    if (unavailable !== undefined) skip(unavailable);
    // as a controller does: fields that are written once are applied first, by another manager
    if (once !== undefined) {
      const { apiVersion, kind, metadata } = object;
      const spec = { ...(fieldAt(object, "spec") as JsonObject), ...(once["spec"] as JsonObject) };
      const first = await apply({ apiVersion, kind, metadata, spec } as KubeObject, "lattice-once");
      expect(first.code, first.text).toBeLessThan(300);
    }
    const answer = await apply(object);
    expect(answer.code, answer.text).toBeLessThan(300);
    expect(answer.warnings).toEqual([]);
  });

  test.for(rows)("does not change when it is applied again: $name", async ({ given: { object } }, { skip }) => {
    if (unavailable !== undefined) skip(unavailable);
    const versions = [await apply(object), await apply(object)].map((answer) => fieldAt(answer.json(), "metadata", "resourceVersion"));
    expect(versions[0]).toBe(versions[1]);
    expect(versions[0]).toEqual(expect.any(String));
  });
});
