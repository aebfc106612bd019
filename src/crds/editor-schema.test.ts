import { describe, expect, it } from "vitest";
import { fieldAt } from "#kube";
import { latticeKinds } from "./kinds.ts";

describe("editor schemas", () => {
  it("allow exactly one apiVersion and kind", () => {
    for (const { jsonSchema, kind } of latticeKinds) {
      expect(fieldAt(jsonSchema(), "properties", "kind", "const")).toBe(kind);
      expect(fieldAt(jsonSchema(), "properties", "apiVersion", "const")).toBe("lattice.dev/v1alpha1");
      expect(fieldAt(jsonSchema(), "required")).toEqual(["apiVersion", "kind", "metadata", "spec"]);
    }
  });

  it("contain no Kubernetes extensions", () => {
    for (const { jsonSchema } of latticeKinds) expect(JSON.stringify(jsonSchema())).not.toContain("x-kubernetes");
  });

  const service = latticeKinds.find(({ kind }) => kind === "LatticeService")?.jsonSchema();
  const container = ["properties", "spec", "properties", "containers", "additionalProperties"];
  const rows = [
    { name: "refuse unknown fields", path: ["properties", "spec", "additionalProperties"], want: false },
    {
      name: "keep free-form fields open",
      path: ["properties", "spec", "properties", "resources", "additionalProperties", "properties", "params", "additionalProperties"],
      want: undefined,
    },
    {
      name: "take a number or a string",
      path: [...container, "properties", "resources", "properties", "limits", "additionalProperties", "type"],
      want: ["integer", "string"],
    },
    { name: "know sets", path: [...container, "properties", "before", "uniqueItems"], want: true },
    { name: "show defaults", path: ["properties", "spec", "properties", "deploy", "properties", "strategy", "default"], want: "rolling" },
  ];
  it.each(rows)("$name", ({ path, want }) => {
    expect(fieldAt(service, ...path)).toEqual(want);
  });
});

describe("the field table of the docs", () => {
  const rowOf = (kind: string, path: string) =>
    latticeKinds
      .find((candidate) => candidate.kind === kind)
      ?.fields()
      .find((row) => row.path === path);

  const rows = [
    { path: "spec.containers", want: { type: "map of object", required: false } },
    { path: "spec.containers.<name>.image", want: { type: "string", required: false } },
    { path: "spec.containers.<name>.command", want: { type: "list of string" } },
    {
      path: "spec.containers.<name>.files",
      want: { rules: [expect.stringContaining("absolute"), "set exactly one of content, binaryContent and source"] },
    },
    { path: "spec.resources.<name>.params", want: { type: "any fields", default: {} } },
    { path: "spec.deploy.strategy", want: { type: '"rolling" or "canary"', default: "rolling" } },
    { path: "spec.deploy.rolling.maxSurge", want: { type: "integer or string" } },
    { path: "spec.deploy.canary.metrics[].name", want: { type: "string", required: true } },
    { path: "status.compiledAt", want: { type: "time" } },
  ];
  it.each(rows)("has a row for $path", ({ path, want }) => {
    expect(rowOf("LatticeService", path)).toMatchObject(want);
  });
});
