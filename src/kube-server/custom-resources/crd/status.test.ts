/** Names that are accepted, refused and released; the conditions of a deleted CRD. */
import { describe, expect, test } from "vitest";
import { fieldAt, type JsonObject } from "#kube";
import { admitted, crdOf } from "../widget.test-support.ts";
import { isEstablished } from "./admit.ts";
import { readDefinition } from "./definition.ts";
import { text } from "./json-access.ts";
import { establish, terminating } from "./status.ts";

const NOW = "2026-11-15T12:00:00Z";
const OBJECT = { type: "object" };

function crd(names: JsonObject, more: JsonObject = {}): JsonObject {
  const base = crdOf(OBJECT, {}, { group: "g.test", names, ...more });
  return admitted({ ...base, metadata: { name: `${text(names, "plural")}.g.test` } }).object;
}

function conditionsOf(object: JsonObject): unknown {
  return fieldAt(object, "status", "conditions");
}

describe("the first CRD of its names", () => {
  const done = establish(crd({ plural: "widgets", kind: "Widget", shortNames: ["wd"], categories: ["all"] }), [], NOW);
  test("gets all of them", () => {
    expect(fieldAt(done, "status", "acceptedNames")).toEqual({
      plural: "widgets",
      singular: "widget",
      shortNames: ["wd"],
      kind: "Widget",
      listKind: "WidgetList",
      categories: ["all"],
    });
  });
  test("is established at once", () => {
    expect(isEstablished(done)).toBe(true);
    expect(conditionsOf(done)).toEqual([
      { type: "NamesAccepted", status: "True", reason: "NoConflicts", message: "no conflicts found", lastTransitionTime: NOW },
      {
        type: "Established",
        status: "True",
        reason: "InitialNamesAccepted",
        message: "the initial names have been accepted",
        lastTransitionTime: NOW,
      },
    ]);
  });
});

describe("a CRD whose names are taken", () => {
  const first = readDefinition(establish(crd({ plural: "widgets", kind: "Widget", shortNames: ["wd"] }), [], NOW));
  const rows = [
    {
      name: "a short name",
      names: { plural: "wodgets", kind: "Wodget", shortNames: ["wd"] },
      reason: "ShortNamesConflict",
      message: '"wd" is already in use',
    },
    {
      name: "two short names",
      names: { plural: "wodgets", kind: "Wodget", shortNames: ["wd", "widget"] },
      reason: "ShortNamesConflict",
      message: '["wd" is already in use, "widget" is already in use]',
    },
    {
      name: "a singular",
      names: { plural: "wodgets", kind: "Wodget", singular: "widget" },
      reason: "SingularConflict",
      message: '"widget" is already in use',
    },
    {
      name: "a kind and its list",
      names: { plural: "wodgets", kind: "Widget" },
      reason: "ListKindConflict",
      message: '"WidgetList" is already in use',
    },
  ];
  test.each(rows)("has a condition for $name", ({ names, reason, message }) => {
    const second = crd(names);
    const done = establish(second, [first], NOW);
    expect(isEstablished(done)).toBe(false);
    expect(conditionsOf(done)).toMatchObject([
      { type: "NamesAccepted", status: "False", reason, message },
      { type: "Established", status: "False", reason: "NotAccepted" },
    ]);
  });
  test("gets them when the other CRD is deleted or in another group", () => {
    const second = crd({ plural: "wodgets", kind: "Widget" });
    expect(isEstablished(establish(second, [], NOW))).toBe(true);
    expect(isEstablished(establish(second, [{ ...first, group: "other.test" }], NOW))).toBe(true);
  });
  test("stays established when a new name is refused", () => {
    const own = establish(crd({ plural: "wodgets", kind: "Wodget" }), [first], NOW);
    const renamed: JsonObject = {
      ...own,
      spec: {
        ...(own["spec"] as JsonObject),
        names: { plural: "wodgets", singular: "wodget", kind: "Wodget", listKind: "WodgetList", shortNames: ["wd"] },
      },
    };
    const again = establish(renamed, [first], "2026-11-15T13:00:00Z");
    expect(isEstablished(again)).toBe(true);
    expect(fieldAt(again, "status", "acceptedNames", "shortNames")).toBeUndefined();
  });
});

test("a CRD in a group of Kubernetes has a condition for its approval", () => {
  const raw = {
    ...crdOf(OBJECT, {}, { group: "x.k8s.io" }),
    metadata: { name: "widgets.x.k8s.io", annotations: { "api-approved.kubernetes.io": "https://github.com/a/b" } },
  };
  expect(conditionsOf(establish(admitted(raw).object, [], NOW))).toContainEqual(
    expect.objectContaining({ reason: "ApprovedAnnotation", message: "approved in https://github.com/a/b" }),
  );
  const bypassed = {
    ...raw,
    metadata: { ...raw.metadata, annotations: { "api-approved.kubernetes.io": "unapproved, request not yet submitted" } },
  };
  expect(conditionsOf(establish(admitted(bypassed).object, [], NOW))).toContainEqual(
    expect.objectContaining({ status: "False", reason: "UnapprovedAnnotation" }),
  );
});

test("a deleted CRD has a condition that its objects are deleted first", () => {
  const done = terminating(establish(crd({ plural: "widgets", kind: "Widget" }), [], NOW), NOW);
  expect(conditionsOf(done)).toContainEqual({
    type: "Terminating",
    status: "True",
    reason: "InstanceDeletionPending",
    message: "CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon",
    lastTransitionTime: NOW,
  });
});
