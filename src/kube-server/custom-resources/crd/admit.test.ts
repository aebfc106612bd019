/** Admission of CRDs: what is refused outside the schema, with the messages of kube-apiserver 1.36.3, and the accepted result. */
import { describe, expect, test } from "vitest";
import type { JsonObject } from "#kube";
import { admitted, crdOf, crdWithVersions, GROUP, refusalsOf } from "../widget.test-support.ts";

const OBJECT = { type: "object" };
const version = (name: string, more: JsonObject = {}): JsonObject => ({
  name,
  served: true,
  storage: name === "v1",
  schema: { openAPIV3Schema: OBJECT },
  ...more,
});

const REFUSED: readonly { readonly name: string; readonly given: JsonObject; readonly want: readonly string[] }[] = [
  {
    name: "a name other than PLURAL.GROUP",
    given: { ...crdOf(OBJECT), metadata: { name: "x.y" } },
    want: ['metadata.name: Invalid value: "x.y": must be spec.names.plural+"."+spec.group'],
  },
  {
    name: "a version that is no DNS label",
    given: crdOf(OBJECT, { name: "V1" }),
    want: [
      expect.stringContaining('spec.versions[0].name: Invalid value: "V1": a DNS-1035 label must consist of'),
      expect.stringContaining('spec.version: Invalid value: "V1"'),
    ],
  },
  {
    name: "no storage version",
    given: crdOf(OBJECT, { storage: false }),
    want: [
      expect.stringContaining("must have exactly one version marked as storage version"),
      "status.storedVersions: Invalid value: null: must have at least one stored version",
    ],
  },
  {
    name: "a version without a schema",
    given: crdWithVersions([{ name: "v1", served: true, storage: true }]),
    want: ["spec.versions[0].schema.openAPIV3Schema: Required value"],
  },
  {
    name: "a column without a path",
    given: crdOf(OBJECT, { additionalPrinterColumns: [{ name: "A", type: "text", jsonPath: "" }] }),
    want: [
      'spec.additionalPrinterColumns[0].type: Invalid value: "text": must be one of boolean,date,integer,number,string',
      "spec.additionalPrinterColumns[0].JSONPath: Required value",
    ],
  },
  {
    name: "replicas outside of spec",
    given: crdOf(OBJECT, { subresources: { scale: { specReplicasPath: ".status.a", statusReplicasPath: ".status.b" } } }),
    want: ['spec.subresources.scale.specReplicasPath: Invalid value: ".status.a": should be a json path under .spec'],
  },
  {
    name: "a status together with root keywords",
    given: crdOf({ type: "object", minProperties: 1 }, { subresources: { status: {} } }),
    want: [expect.stringContaining("only [Description Type Format")],
  },
  {
    name: "an unknown conversion",
    given: crdOf(OBJECT, {}, { conversion: { strategy: "Magic" } }),
    want: ['spec.conversion.strategy: Unsupported value: "Magic": supported values: "None", "Webhook"'],
  },
  {
    name: "a webhook without an address",
    given: crdOf(OBJECT, {}, { conversion: { strategy: "Webhook" } }),
    want: [
      "spec.conversion.webhookClientConfig: Required value: required when strategy is set to Webhook",
      "spec.conversion.conversionReviewVersions: Required value",
    ],
  },
  {
    name: "a webhook without HTTPS",
    given: crdOf(
      OBJECT,
      {},
      { conversion: { strategy: "Webhook", webhook: { conversionReviewVersions: ["v1"], clientConfig: { url: "http://a" } } } },
    ),
    want: [
      `spec.conversion.webhookClientConfig.url: Invalid value: "http": 'https' is the only allowed URL scheme; desired format: https://host[/path]`,
    ],
  },
  {
    name: "a protected group of Kubernetes",
    given: { ...crdOf(OBJECT, {}, { group: "x.k8s.io" }), metadata: { name: "widgets.x.k8s.io" } },
    want: [
      'metadata.annotations[api-approved.kubernetes.io]: Required value: protected groups must have approval annotation "api-approved.kubernetes.io", see https://github.com/kubernetes/enhancements/pull/1111',
    ],
  },
  {
    name: "preserveUnknownFields",
    given: crdOf(OBJECT, {}, { preserveUnknownFields: true }),
    want: [
      "spec.preserveUnknownFields: Invalid value: true: cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead",
    ],
  },
  {
    name: "versions of one name",
    given: crdWithVersions([
      version("v1"),
      { ...version("v1"), storage: false, schema: { openAPIV3Schema: { type: "object", description: "d" } } },
    ]),
    want: [expect.stringContaining("must contain unique version names")],
  },
  {
    name: "a wrong JSON type",
    given: { ...crdOf(OBJECT), spec: { group: 5 } },
    want: ["json: cannot unmarshal number into Go struct field CustomResourceDefinitionSpec.spec.group of type string"],
  },
];

describe("a CRD is refused for", () => {
  test.each(REFUSED)("$name", ({ given, want }) => {
    expect(refusalsOf(given)).toEqual(want);
  });
});

describe("an accepted CRD", () => {
  const crd = admitted(crdOf({ type: "object", properties: {}, what: 1, items: { type: "string" } }, { additionalPrinterColumns: [] }));
  test("gets names derived from its kind, and a conversion", () => {
    expect(crd.object["spec"]).toMatchObject({
      names: { plural: "widgets", singular: "widget", kind: "Widget", listKind: "WidgetList" },
      conversion: { strategy: "None" },
    });
  });
  test("has a status with the stored version only", () => {
    expect(crd.object["status"]).toEqual({ conditions: null, acceptedNames: { plural: "", kind: "" }, storedVersions: ["v1"] });
  });
  test("loses unknown fields with a finding, and empty fields", () => {
    expect(crd.findings).toEqual(['unknown field "spec.versions[0].schema.openAPIV3Schema.what"']);
    expect(crd.definition.versions[0]?.json).toEqual({
      name: "v1",
      served: true,
      storage: true,
      schema: { openAPIV3Schema: { type: "object", items: { type: "string" } } },
    });
  });
  test("gets one warning per unknown format", () => {
    const schema = {
      type: "object",
      properties: { a: { type: "string", format: "foo" }, b: { type: "string", format: "foo" }, c: { type: "string", format: "date" } },
    };
    expect(admitted(crdOf(schema)).warnings).toEqual(['unrecognized format "foo"']);
  });
});

describe("a change of a CRD", () => {
  const before = admitted(crdOf(OBJECT)).object;
  const established: JsonObject = {
    ...before,
    metadata: { name: `widgets.${GROUP}`, resourceVersion: "1" },
    status: { ...(before["status"] as JsonObject), conditions: [{ type: "Established", status: "True" }] },
  };
  const changed = (more: JsonObject): JsonObject => ({
    ...crdOf(OBJECT, {}, more),
    metadata: { name: `widgets.${GROUP}`, resourceVersion: "1" },
  });
  test("cannot change its scope, kind or group", () => {
    expect(refusalsOf(changed({ scope: "Cluster" }), established)).toEqual(['spec.scope: Invalid value: "Cluster": field is immutable']);
    expect(refusalsOf(changed({ names: { plural: "widgets", kind: "Wodget" } }), established)).toEqual([
      'spec.names.kind: Invalid value: "Wodget": field is immutable',
    ]);
    expect(refusalsOf(changed({ group: "other.test" }), established)).toEqual([
      'spec.group: Invalid value: "other.test": field is immutable',
    ]);
  });
  test("can change them before it is established", () => {
    const fresh = { ...before, metadata: { name: `widgets.${GROUP}`, resourceVersion: "1" } };
    expect(refusalsOf(changed({ scope: "Cluster" }), fresh)).toEqual([]);
  });
  test("cannot remove a stored version", () => {
    const [line] = refusalsOf(changed({ versions: [version("v2", { storage: true })] }), established);
    expect(line).toContain(
      'status.storedVersions[0]: Invalid value: "v1": missing from spec.versions; v1 was previously a storage version',
    );
  });
});
