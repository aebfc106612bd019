import { mkdtempSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { describeGoStructs } from "./go-structs.ts";

const cache = mkdtempSync(join(tmpdir(), "go-structs-"));
const folder = join(cache, "k8s.io/api@v1/core/v1");
mkdirSync(folder, { recursive: true });
writeFileSync(
  join(folder, "types.go"),
  [
    "type Phase string",
    "type Thing struct {",
    '\tmetav1.TypeMeta `json:",inline"`',
    "\t// Inner is inlined.",
    '\tInner `json:",inline"`',
    '\tName string `json:"name" protobuf:"bytes,1"`',
    '\tPhase *Phase `json:"phase,omitempty"`',
    '\tWhen metav1.Time `json:"when,omitempty,omitzero"`',
    '\tParts []Part `json:"parts,omitempty"`',
    '\tAmounts map[Phase]resource.Quantity `json:"amounts,omitempty"`',
    '\tHidden string `json:"-"`',
    "}",
    "type Inner struct {",
    '\tCount int32 `json:"count,omitempty"`',
    "}",
    "type Part struct {",
    '\tData []byte `json:"data,omitempty"`',
    "}",
  ].join("\n"),
);
afterAll(() => rmSync(cache, { recursive: true }));

it("lists order, pointers, fields that are always written, inlined structs and named types", () => {
  const names = [
    "io.k8s.api.core.v1.Thing",
    "io.k8s.api.core.v1.Part",
    "io.k8s.apimachinery.pkg.apis.meta.v1.Time",
    "io.k8s.api.core.v1.Absent",
  ];
  expect(describeGoStructs(names, { cache, version: "v1" })).toEqual([
    "core.v1.Thing kind apiVersion count^Inner name! phase*:v1.Phase when~ parts amounts:map[v1.Phase]resource.Quantity",
    "core.v1.Part data",
  ]);
});
