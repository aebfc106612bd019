import { expect, test } from "vitest";
import type { KubeObject } from "#kube";
import { objectOf } from "./once.ts";
import { wavesOf, type PlannedObjects } from "./waves.ts";

const of = (kind: string): KubeObject => ({ apiVersion: "v1", kind, metadata: { name: "x" } });
const kinds = (planned: PlannedObjects, order?: readonly (readonly string[])[]) =>
  wavesOf(planned, order).map((wave) => wave.map((wanted) => objectOf(wanted).kind));

const rows = [
  { name: "no objects, no waves", given: [], want: [] },
  {
    name: "a list follows the table, and unknown kinds come last, together",
    given: ["Zebra", "Service", "Namespace", "Deployment", "ConfigMap", "Aardvark"].map(of),
    want: [["Namespace"], ["ConfigMap"], ["Deployment"], ["Service"], ["Zebra", "Aardvark"]],
  },
  {
    name: "a list of lists is used unchanged, without empty lists",
    given: [[of("Service")], [], [of("Namespace"), of("ConfigMap")]],
    want: [["Service"], ["Namespace", "ConfigMap"]],
  },
] satisfies readonly { name: string; given: PlannedObjects; want: string[][] }[];

test.each(rows)("$name", ({ given, want }) => {
  expect(kinds(given)).toEqual(want);
});

test("a controller can have its own order", () => {
  expect(kinds(["A", "B", "C"].map(of), [["C"], ["A"]])).toEqual([["C"], ["A"], ["B"]]);
});
