/** Records and patches whose fields, times the lists of the Deployment, are too much work: they are refused before it is done. */
import { describe, expect, test } from "vitest";
import { expectOk, type Result } from "#base";
import type { JsonObject, KubeObject } from "#kube";
import { AT, ownedDeployment, patchOf } from "../../test/builders/workload-patches.ts";
import { applyWorkloadPatch, recordOf, RECORD_ANNOTATION, revertWorkloadPatch } from "./index.ts";
import { applyAt } from "./applied.test-support.ts";

const REFUSED = "annotation lattice.dev/patched-fields: too many fields for lists of this length";
const problemOf = <E>(result: Result<unknown, E>) => (result.ok ? undefined : result.error);
const PATCH = patchOf({ image: "web:2" });
const MAIN = ["spec", "template", "spec", "containers", { key: { name: "main" } }];
const variables = (count: number) => Array.from({ length: count }, (_, index) => ({ name: `a${index.toString(36)}` }));
const elements = (count: number) => Array.from({ length: count }, () => "a");

/** With a record of this many fields. */
function recorded(deployment: KubeObject, count: number, pathOf: (index: number) => readonly unknown[]): KubeObject {
  const fields = Array.from({ length: count }, (_, index) => ({ path: pathOf(index), before: 1, after: 2, since: AT }));
  const text = JSON.stringify({ version: 1, service: "shop/web", fields });
  return { ...deployment, metadata: { ...deployment.metadata, annotations: { [RECORD_ANNOTATION]: text } } };
}

const ofVariable = (index: number) => [...MAIN, "env", { key: { name: `z${index}` } }];
const ofArgument = (index: number) => [...MAIN, "args", { value: `${index}` }];
const ofLabel = (index: number) => ["metadata", "labels", `z${index}`];
const labelled = (count: number) => {
  const labels = Object.fromEntries(variables(count).map(({ name }) => [name, ""]));
  return { ...ownedDeployment(), metadata: { ...ownedDeployment().metadata, labels } };
};

describe("a record with too many fields for the lists of its Deployment", () => {
  const rows = [
    { name: "1,300 fields and 100,000 variables", given: recorded(ownedDeployment({ env: variables(100_000) }), 1_300, ofVariable) },
    { name: "1,300 fields and 300,000 arguments", given: recorded(ownedDeployment({ args: elements(300_000) }), 1_300, ofArgument) },
    { name: "200 fields and 5,000 labels", given: recorded(labelled(5_000), 200, ofLabel) },
    {
      name: "fields with long paths",
      given: recorded(ownedDeployment({ args: elements(100_000) }), 100, (index) => [...MAIN, ..."abcdefghijklmnop", `${index}`]),
    },
    {
      name: "fields with large keys",
      given: recorded(ownedDeployment({ args: elements(50_000) }), 10, () => [...MAIN, "args", { value: elements(100) }]),
    },
  ];

  test.each(rows)("cannot be read: $name", ({ given }) => expect(recordOf(given)).toEqual({ ok: false, error: REFUSED }));

  test.each(rows)("is removed by a revert: $name", ({ given }) => {
    expect(revertWorkloadPatch(given)).toMatchObject({ recordProblem: REFUSED, restored: [], kept: [] });
  });

  test.each(rows)("is replaced by an application: $name", ({ given }) => {
    const previous = recorded(ownedDeployment(), 1_300, ofVariable);
    const applied = expectOk(applyWorkloadPatch(given, PATCH, { at: AT, previous }));
    expect(applied.recordProblem).toBe(REFUSED);
    expect(expectOk(recordOf(applied.deployment))?.fields.length).toBeLessThan(5);
  });

  test("is not used when it is that of the object before, and the new object has none", () => {
    const previous = recorded(ownedDeployment({ args: elements(2) }), 1_300, ofArgument);
    const { metadata } = ownedDeployment();
    const labelledOnly = { ...metadata, labels: { "lattice.dev/service": "web" } };
    const sent = { ...ownedDeployment({ args: elements(300_000) }), metadata: labelledOnly };
    expect(expectOk(applyWorkloadPatch(sent, PATCH, { at: AT, previous })).changed).toBe(true);
  });
});

test("a record of 1,300 fields of a Deployment with 400 variables is read", () => {
  const given = recorded(ownedDeployment({ env: variables(400) }), 1_300, ofVariable);
  expect(expectOk(recordOf(given))?.fields).toHaveLength(1_300);
});

describe("a patch with too many fields for the lists of the Deployment", () => {
  const named = (count: number) =>
    Object.fromEntries(variables(count).map(({ name }) => [name, { secretKeyRef: { name: "s", key: "k" } }]));
  const mounts = Array.from({ length: 100 }, (_, index) => ({ name: "files", mountPath: `/${index}` }));
  const rows: readonly { readonly name: string; readonly container: JsonObject; readonly patch: ReturnType<typeof patchOf> }[] = [
    { name: "256 variables", container: { env: variables(50_000) }, patch: patchOf({}, { variables: { main: named(256) } }) },
    { name: "100 mounts", container: { volumeMounts: variables(50_000) }, patch: patchOf({ volumeMounts: mounts }) },
  ];
  test.each(rows)("is not applied, and the problem says what to do: $name", ({ container, patch }) => {
    expect(problemOf(applyWorkloadPatch(ownedDeployment(container), patch, { at: AT }))).toEqual({
      kind: "lists-too-long",
      message: "lists of Deployment web are too long for a patch with so many fields; shorten them, or patch fewer fields",
    });
  });

  test("is not applied when its record could not be read again", () => {
    const long = patchOf({ command: elements(1_000) });
    const owned = ownedDeployment({ command: elements(2_000), args: elements(10_000) });
    expect(problemOf(applyWorkloadPatch(owned, long, { at: AT }))?.kind).toBe("lists-too-long");
  });

  test("is applied with 256 variables to 1,000", () => {
    const patch = patchOf({}, { variables: { main: named(256) } });
    const owned = ownedDeployment({ env: variables(1_000) });
    const { deployment } = applyAt(owned, patch);
    expect(revertWorkloadPatch(deployment).deployment).toEqual(owned);
  });
});
