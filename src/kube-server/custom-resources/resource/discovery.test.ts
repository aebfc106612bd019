/** Discovery: verbs, the order of versions, and deprecation warnings. */
import { describe, expect, test } from "vitest";
import type { JsonObject } from "#kube";
import { readDefinition } from "../crd/definition.ts";
import { admitted, crdOf, crdWithVersions, GROUP, typeOf } from "../widget.test-support.ts";
import { compareVersions, verbsOf } from "./discovery.ts";

const OBJECT = { type: "object" };
test("the verb create is missing while the CRD is deleted", () => {
  const { object } = admitted(crdOf(OBJECT));
  const conditions = [{ type: "Terminating", status: "True" }];
  expect(verbsOf(readDefinition({ ...object, status: { conditions } }))).toEqual(["delete", "deletecollection", "get", "list", "watch"]);
});

test("versions are ordered by stability and age, the most stable and newest first", () => {
  const given = ["foo10", "v1alpha1", "v3beta1", "v10", "foo1", "v12alpha1", "v2", "v11beta2", "v1", "v10beta3", "v1"];
  expect(given.toSorted(compareVersions)).toEqual([
    "v10",
    "v2",
    "v1",
    "v1",
    "v11beta2",
    "v10beta3",
    "v3beta1",
    "v12alpha1",
    "v1alpha1",
    "foo1",
    "foo10",
  ]);
});

describe("a deprecated version has a warning with", () => {
  const version = (name: string, more: JsonObject = {}): JsonObject => ({
    name,
    served: true,
    storage: name === "v1",
    schema: { openAPIV3Schema: OBJECT },
    ...more,
  });
  test.each([
    {
      name: "the replacement",
      given: [version("v1"), version("v1alpha1", { deprecated: true })],
      want: `${GROUP}/v1alpha1 Widget is deprecated; use ${GROUP}/v1 Widget`,
    },
    {
      name: "the deprecation only, without a replacement",
      given: [version("v1", { served: false }), version("v1alpha1", { deprecated: true })],
      want: `${GROUP}/v1alpha1 Widget is deprecated`,
    },
    {
      name: "its own text",
      given: [version("v1"), version("v1alpha1", { deprecated: true, deprecationWarning: "go away" })],
      want: "go away",
    },
    { name: "nothing if it is not deprecated", given: [version("v1"), version("v1alpha1")], want: undefined },
  ])("$name", ({ given, want }) => {
    expect(typeOf(crdWithVersions(given), "v1alpha1").deprecationWarning).toBe(want);
  });
});
