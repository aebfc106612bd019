/** Between versions: by name only, or by what a webhook gave back. */
import { describe, expect, test } from "vitest";
import type { KubeObject } from "#kube";
import { crdWithVersions, GROUP, typeOf, widget } from "../widget-fixture.ts";
import { acceptConverted, rewriteVersion } from "./convert.ts";

const version = (name: string, storage: boolean, field: string) => ({
  name,
  served: true,
  storage,
  schema: {
    openAPIV3Schema: {
      type: "object",
      properties: { spec: { type: "object", properties: { both: { type: "string" }, [field]: { type: "string", default: field } } } },
    },
  },
});
const crd = crdWithVersions([version("v1alpha1", false, "old"), version("v1", true, "new")]);

describe("without a webhook", () => {
  test("only the version is rewritten, unknown fields go and defaults come", () => {
    const stored = widget({ both: "b", new: "n" }) as unknown as KubeObject;
    expect(typeOf(crd, "v1alpha1").fromStorage(stored)).toEqual(widget({ both: "b", old: "old" }, { apiVersion: `${GROUP}/v1alpha1` }));
  });
  test("what is written in an old version is stored in the new one", () => {
    const given = widget({ both: "b", old: "o" }, { apiVersion: `${GROUP}/v1alpha1` }) as unknown as KubeObject;
    expect(typeOf(crd, "v1alpha1").toStorage(given)).toEqual(widget({ both: "b", new: "new" }));
  });
  test("what is stored in this version gets the defaults that came later", () => {
    expect(typeOf(crd).fromStorage(widget({}) as unknown as KubeObject)).toEqual(widget({ new: "new" }));
  });
  test("an object of the wanted version is the same object", () => {
    const object = widget({});
    expect(rewriteVersion(object, `${GROUP}/v1`)).toBe(object);
  });
});

describe("what a webhook gives back", () => {
  const original = widget({ a: 1 }, { metadata: { name: "x", uid: "u", labels: { a: "1" }, generation: 1 } });
  const wanted = `${GROUP}/v2`;
  test("is taken, but of metadata only labels and annotations", () => {
    const metadata = { name: "x", uid: "u", labels: { b: "2" }, annotations: { c: "3" }, generation: 9, finalizers: ["f"] };
    expect(acceptConverted(original, { ...original, apiVersion: wanted, metadata, spec: { b: 2 } }, wanted)).toEqual({
      ok: true,
      value: {
        apiVersion: wanted,
        kind: "Widget",
        metadata: { name: "x", uid: "u", generation: 1, labels: { b: "2" }, annotations: { c: "3" } },
        spec: { b: 2 },
      },
    });
  });
  test.each([
    { name: "is no object", given: 5, want: "conversion webhook returned an object that is none" },
    {
      name: "has another version",
      given: original,
      want: `invalid groupVersion (expected ${wanted}, Kind=Widget, received ${GROUP}/v1, Kind=Widget)`,
    },
    {
      name: "has another name",
      given: { ...original, apiVersion: wanted, metadata: { name: "y", uid: "u" } },
      want: "must have the same name: x != y",
    },
    {
      name: "has lost its uid",
      given: { ...original, apiVersion: wanted, metadata: { name: "x" } },
      want: "must have the same uid: u != ",
    },
  ])("is refused when it $name", ({ given, want }) => {
    expect(acceptConverted(original, given, wanted)).toEqual({ ok: false, error: want });
  });
});
