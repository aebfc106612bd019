/** Names, columns, warnings and selectable fields that a CRD may not have, with the messages of kube-apiserver 1.36.3. */
import { describe, expect, test } from "vitest";
import type { JsonObject } from "#kube";
import { crdOf, crdWithVersions, refusalsOf } from "../widget.test-support.ts";

const OBJECT = { type: "object" };
const names = (more: JsonObject): JsonObject => crdOf(OBJECT, {}, { names: { plural: "widgets", kind: "Widget", ...more } });
const FIELDS = { type: "object", properties: { spec: { type: "object", properties: { a: { type: "string" }, n: { type: "number" } } } } };
const selecting = (...paths: readonly string[]): JsonObject => crdOf(FIELDS, { selectableFields: paths.map((jsonPath) => ({ jsonPath })) });
const warned = (deprecationWarning: string, deprecated = true): JsonObject => crdOf(OBJECT, { deprecated, deprecationWarning });
const WARNING = "spec.versions[0].deprecationWarning: Invalid value: ";
const starting = (text: string): string => expect.stringContaining(text) as string;

describe("a CRD is refused for", () => {
  test.each<{ name: string; given: JsonObject; want: readonly string[] }>([
    {
      name: "a kind that is no DNS label",
      given: names({ kind: "W_" }),
      want: [
        starting('spec.names.singular: Invalid value: "w_": a DNS-1035 label'),
        starting('spec.names.kind: Invalid value: "W_": may have mixed case, but should otherwise match:'),
        starting('spec.names.listKind: Invalid value: "W_List": may have mixed case'),
      ],
    },
    {
      name: "a listKind equal to the kind",
      given: names({ listKind: "Widget" }),
      want: ['spec.names.listKind: Invalid value: "Widget": kind and listKind may not be the same'],
    },
    {
      name: "short names and categories that are no DNS labels",
      given: names({ shortNames: ["W"], categories: ["C"] }),
      want: [starting('spec.names.shortNames[0]: Invalid value: "W": '), starting('spec.names.categories[0]: Invalid value: "C": ')],
    },
    {
      name: "a group without a dot",
      given: { ...crdOf(OBJECT, {}, { group: "g" }), metadata: { name: "widgets.g" } },
      want: ['spec.group: Invalid value: "g": should be a domain with at least one dot'],
    },
    {
      name: "a group that is no DNS name",
      given: { ...crdOf(OBJECT, {}, { group: "G_" }), metadata: { name: "widgets.g" } },
      want: [starting("metadata.name: Invalid value"), starting('spec.group: Invalid value: "G_": a lowercase RFC 1123 subdomain')],
    },
    {
      name: "no names at all",
      given: { ...crdWithVersions([], { group: "", names: {}, scope: "" }), metadata: { name: "a.b" } },
      want: [
        starting("metadata.name"),
        "spec.group: Required value",
        "spec.scope: Required value",
        "spec.versions: Invalid value: []: must have exactly one version marked as storage version",
        "spec.names.plural: Required value",
        "spec.names.singular: Required value",
        "spec.names.kind: Required value",
        "spec.names.listKind: Required value",
        "status.storedVersions: Invalid value: null: must have at least one stored version",
      ],
    },
    {
      name: "a column without name and type, and with an odd format",
      given: crdOf(OBJECT, { additionalPrinterColumns: [{ name: "", type: "", format: "x", jsonPath: "a" }] }),
      want: [
        "spec.additionalPrinterColumns[0].name: Required value",
        "spec.additionalPrinterColumns[0].type: Required value: must be one of boolean,date,integer,number,string",
        'spec.additionalPrinterColumns[0].format: Invalid value: "x": must be one of byte,date,date-time,double,float,int32,int64,password',
        'spec.additionalPrinterColumns[0].JSONPath: Invalid value: "a": must be a simple json path starting with .',
      ],
    },
    {
      name: "scale paths without a field",
      given: crdOf(OBJECT, { subresources: { scale: { specReplicasPath: "", statusReplicasPath: "x", labelSelectorPath: ".a" } } }),
      want: [
        "spec.subresources.scale.specReplicasPath: Required value",
        'spec.subresources.scale.statusReplicasPath: Invalid value: "x": must be a simple json path starting with .',
        'spec.subresources.scale.labelSelectorPath: Invalid value: ".a": should be a json path under either .spec or .status',
      ],
    },
    {
      name: "a selector that is no path",
      given: crdOf(OBJECT, {
        subresources: { scale: { specReplicasPath: ".spec.a", statusReplicasPath: ".status.a", labelSelectorPath: "a" } },
      }),
      want: ['spec.subresources.scale.labelSelectorPath: Invalid value: "a": must be a simple json path starting with .'],
    },
    {
      name: "invalid selectable fields",
      given: selecting("", ".spec.b", ".spec.n", ".spec.a", ".spec.a", "a", ".spec['a']"),
      want: [
        "spec.selectableFields[0].jsonPath: Required value",
        starting('spec.selectableFields[1].jsonPath: Invalid value: ".spec.b": is an invalid path: '),
        starting('spec.selectableFields[2].jsonPath: Invalid value: ".spec.n": must point to a field of type string, boolean or integer.'),
        'spec.selectableFields[4].jsonPath: Duplicate value: ".spec.a"',
        'spec.selectableFields[5].jsonPath: Invalid value: "a": is an invalid path: expected [ or . but got: a',
        "spec.selectableFields[6].jsonPath: Invalid value: \".spec['a']\": is an invalid path: array notation is not allowed",
      ],
    },
    {
      name: "a warning of a version that is not deprecated",
      given: warned("x", false),
      want: [`${WARNING}"x": can only be set for deprecated versions`],
    },
    { name: "an empty warning", given: warned(""), want: [`${WARNING}"": must not be an empty string`] },
    {
      name: "a warning that cannot be printed",
      given: warned("a\n"),
      want: [`${WARNING}"a\\n": must only contain printable UTF-8 characters; non-printable character found at index 1`],
    },
    {
      name: "a warning that is too long",
      given: warned("a".repeat(257)),
      want: [`${WARNING}"${"a".repeat(257)}": must be <= 256 characters long`],
    },
  ])("$name", ({ given, want }) => {
    expect(refusalsOf(given)).toEqual(want);
  });
});
