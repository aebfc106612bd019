import { describe, expect, test } from "vitest";
import { childCluster } from "../../../test/builders/observed-child.ts";
import { MIRROR_ANNOTATION, mirrorAnnotation, specDigest, specMirrorOf } from "./spec-mirror.ts";

const cluster = childCluster();
const own = specDigest(cluster);
const OTHER = "b".repeat(64);
const annotated = (annotation: string) => ({
  ...cluster,
  metadata: { ...cluster.metadata, annotations: { [MIRROR_ANNOTATION]: annotation } },
});

describe("specMirrorOf", () => {
  test.each([
    { name: "a resource that was never copied", given: cluster, reported: own, want: "outdated" },
    { name: "one whose annotation was emptied", given: annotated(""), reported: own, want: "outdated" },
    { name: "a copy of what the child has", given: annotated(own), reported: own, want: "current" },
    { name: "a copy, before the first report", given: annotated(own), reported: undefined, want: "current" },
    { name: "a child that was changed", given: annotated(own), reported: OTHER, want: "outdated" },
    { name: "a copy that is stored differently", given: annotated(mirrorAnnotation(OTHER, own)), reported: OTHER, want: "current" },
    { name: "an edit of a user", given: annotated(OTHER), reported: OTHER, want: "edited" },
    { name: "an edit of a user while the child changes, too", given: annotated(OTHER), reported: own, want: "edited" },
  ])("$name is $want", ({ given, reported, want }) => {
    expect(specMirrorOf(given, reported)).toBe(want);
  });
});

test("the digest does not depend on the order of fields", () => {
  const { provider, ...rest } = cluster.spec;
  expect(specDigest({ spec: { ...rest, provider } })).toBe(own);
  expect(own).toMatch(/^[0-9a-f]{64}$/);
});
