/** Conversion None between versions; conversion by a webhook is in ../conversion. */
import { describe, expect, test } from "vitest";
import type { KubeObject } from "#kube";
import { crdWithVersions, GROUP, typeOf, widget } from "../widget.test-support.ts";
import { rewriteVersion } from "./convert.ts";

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
  test("only the version is rewritten and unknown fields are dropped; defaults are those of the written version", () => {
    const stored = widget({ both: "b", new: "n" }) as unknown as KubeObject;
    expect(typeOf(crd, "v1alpha1").fromStorage(stored)).toEqual(widget({ both: "b" }, { apiVersion: `${GROUP}/v1alpha1` }));
  });
  test("an object written in an old version is stored in the new one, and gets its defaults when it is read", () => {
    const given = widget({ both: "b", old: "o" }, { apiVersion: `${GROUP}/v1alpha1` }) as unknown as KubeObject;
    const stored = typeOf(crd, "v1alpha1").toStorage(given);
    expect(stored).toEqual(widget({ both: "b" }));
    expect(typeOf(crd).fromStorage(stored)).toEqual(widget({ both: "b", new: "new" }));
  });
  test("an object stored in this version gets defaults that were added later", () => {
    expect(typeOf(crd).fromStorage(widget({}) as unknown as KubeObject)).toEqual(widget({ new: "new" }));
  });
  test("an object of the wanted version is the same object", () => {
    const object = widget({});
    expect(rewriteVersion(object, `${GROUP}/v1`)).toBe(object);
  });
});
