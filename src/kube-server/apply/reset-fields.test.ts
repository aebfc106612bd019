import { describe, expect, it } from "vitest";
import { fieldSetOf, pathsOf } from "./field-set.ts";
import { fieldPath, keyElement, pathText } from "./path-element.ts";
import { resetFieldsOf, resetFieldsOfCustom } from "./reset-fields.ts";

const container = [...fieldPath("spec", "containers"), keyElement([["name", "c"]])];
const everything = fieldSetOf(
  fieldPath("metadata", "labels"),
  fieldPath("metadata", "annotations"),
  fieldPath("spec", "a"),
  fieldPath("spec", "ephemeralContainers"),
  [...container, "f:image"],
  [...container, "f:resources"],
  fieldPath("status", "conditions"),
  fieldPath("status", "certificate"),
);

describe("resetFieldsOf", () => {
  const meta = [".metadata.annotations", ".metadata.labels"];
  const image = ['.spec.containers[name="c"].image', '.spec.containers[name="c"].resources'];
  const spec = [".spec.a", ".spec.ephemeralContainers", ...image];
  const status = [".status.certificate", ".status.conditions"];

  it.each([
    { name: "a Deployment's status cannot be owned through it", group: "apps", kind: "Deployment", want: [...meta, ...spec] },
    {
      name: "its status may annotate, not label",
      group: "apps",
      kind: "Deployment",
      subresource: "status",
      want: [".metadata.annotations", ...status],
    },
    { name: "a Job's status may do both", group: "batch", kind: "Job", subresource: "status", want: [...meta, ...status] },
    { name: "a Job's status cannot be owned through it", group: "batch", kind: "Job", want: [...meta, ...spec] },
    {
      name: "a CRD's status owns nothing else",
      group: "apiextensions.k8s.io",
      kind: "CustomResourceDefinition",
      subresource: "status",
      want: status,
    },
    { name: "a CRD itself", group: "apiextensions.k8s.io", kind: "CustomResourceDefinition", want: [...meta, ...spec] },
    { name: "resizing a Pod owns whatever it names", group: "", kind: "Pod", subresource: "resize", want: [...meta, ...spec, ...status] },
    {
      name: "debugging a Pod owns whatever it names",
      group: "",
      kind: "Pod",
      subresource: "ephemeralcontainers",
      want: [...meta, ...spec, ...status],
    },
    {
      name: "an approval",
      group: "certificates.k8s.io",
      kind: "CertificateSigningRequest",
      subresource: "approval",
      want: [...meta, ".status.conditions"],
    },
    { name: "a kind without a status resets nothing", group: "", kind: "ConfigMap", want: [...meta, ...spec, ...status] },
    {
      name: "nor does a subresource that is not listed",
      group: "batch",
      kind: "Job",
      subresource: "other",
      want: [...meta, ...spec, ...status],
    },
  ])("$name", ({ want, ...kind }) => {
    const filter = resetFieldsOf(kind, ["v1"]).get("v1") ?? ((set) => set);
    expect(Array.from(pathsOf(filter(everything)), pathText).toSorted()).toEqual(want.toSorted());
  });

  it("custom resources reset the status, or all but the status", () => {
    const left = (subresource?: string) =>
      Array.from(pathsOf(resetFieldsOfCustom("v1", subresource).get("v1")?.(everything) ?? everything), pathText).toSorted();
    expect(left()).toEqual([...meta, ...spec].toSorted());
    expect(left("status")).toEqual(status);
  });
});
