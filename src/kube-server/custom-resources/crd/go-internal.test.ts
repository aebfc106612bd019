/** A CRD as its errors quote it. */
import { expect, test } from "vitest";
import type { JsonObject } from "#kube";
import { crdWithVersions, refusalsOf } from "../widget.test-support.ts";

const STRING = { type: "string" };

test("versions are quoted with every field of the Go struct", () => {
  const schema = {
    type: "object",
    description: "d",
    required: ["a"],
    properties: {
      a: { type: "array", items: STRING },
      b: { type: "object", additionalProperties: true },
      c: { type: "object", additionalProperties: STRING },
    },
  };
  const version = (name: string, more: JsonObject): JsonObject => ({
    name,
    served: true,
    storage: true,
    schema: { openAPIV3Schema: schema },
    ...more,
  });
  const scale = { specReplicasPath: ".spec.a", statusReplicasPath: ".status.b" };
  const column = { name: "A", type: "string", jsonPath: ".a" };
  const [line] = refusalsOf(
    crdWithVersions([
      version("v1", {
        subresources: { status: {}, scale },
        additionalPrinterColumns: [column],
        selectableFields: [{ jsonPath: ".spec.a" }],
      }),
      version("v2", {
        schema: {
          openAPIV3Schema: {
            ...schema,
            anyOf: [{ required: ["a"] }],
            externalDocs: { url: "u" },
            "x-kubernetes-validations": [{ rule: "true" }],
          },
        },
      }),
    ]),
  ).filter((one) => one.includes("exactly one version"));
  expect(line).toContain(
    '[{"Name":"v1","Served":true,"Storage":true,"Deprecated":false,"DeprecationWarning":null,"Schema":{"OpenAPIV3Schema":{"ID":"",',
  );
  expect(line).toContain(
    '"Subresources":{"Status":{},"Scale":{"SpecReplicasPath":".spec.a","StatusReplicasPath":".status.b","LabelSelectorPath":null}}',
  );
  expect(line).toContain(
    '"AdditionalPrinterColumns":[{"Name":"A","Type":"string","Format":"","Description":"","Priority":0,"JSONPath":".a"}]',
  );
  expect(line).toContain('"SelectableFields":[{"JSONPath":".spec.a"}]');
  expect(line).toContain('"AdditionalProperties":{"Allows":true,"Schema":null}');
  expect(line).toContain('"ExternalDocs":{"Description":"","URL":"u"}');
  expect(line).toContain(
    '"XValidations":[{"Rule":"true","Message":"","MessageExpression":"","Reason":null,"FieldPath":"","OptionalOldSelf":null}]',
  );
});
