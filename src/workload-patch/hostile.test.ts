/** Records, patches and Deployments that no tool of ours wrote. */
import { describe, expect, test } from "vitest";
import { expectOk } from "#base";
import { fieldAt, type Json, type JsonObject, type KubeObject } from "#kube";
import { AT, ownedDeployment, patchOf, podPatch } from "../../test/builders/workload-patches.ts";
import {
  applyWorkloadPatch,
  formatWorkloadPatch,
  jsonPatchBetween,
  parseWorkloadPatch,
  PATCHED_LABEL,
  recordOf,
  RECORD_ANNOTATION,
  REQUEST_ANNOTATION,
  revertWorkloadPatch,
} from "./index.ts";
import { applyAt, containersOf } from "./applied.test-support.ts";

const PATCH = patchOf({ image: "web:2", env: [{ name: "A", value: "1" }] });

function withRecordText(text: string, deployment = ownedDeployment()): KubeObject {
  return { ...deployment, metadata: { ...deployment.metadata, annotations: { [RECORD_ANNOTATION]: text } } };
}

const recordWith = (...fields: readonly unknown[]) => JSON.stringify({ version: 1, service: "shop/web", fields });
const IMAGE_PATH = ["spec", "template", "spec", "containers", { key: { name: "main" } }, "image"];

describe("a record that cannot be read", () => {
  const rows = [
    { name: "not JSON", given: "{", want: "not JSON" },
    { name: "too large", given: " ".repeat(256 * 1024 + 1), want: "larger than 256 KiB" },
    { name: "nested deeply", given: `${"[".repeat(100_000)}${"]".repeat(100_000)}`, want: "nested deeper than 40 levels" },
    { name: "another version", given: JSON.stringify({ version: 2, service: "a/b", fields: [] }), want: "version must be 1" },
    { name: "a list", given: "[]", want: "version must be 1" },
    { name: "null", given: "null", want: "version must be 1" },
    { name: "no fields", given: JSON.stringify({ version: 1, service: "a/b" }), want: "needs the fields service and fields" },
    { name: "a service without a namespace", given: JSON.stringify({ version: 1, service: "web", fields: [] }), want: "service must be" },
    { name: "a service with two slashes", given: JSON.stringify({ version: 1, service: "a/b/c", fields: [] }), want: "service must be" },
    { name: "a service with a long name", given: JSON.stringify({ version: 1, service: `a/${"b".repeat(316)}`, fields: [] }), want: "service must be" },
    { name: "too many fields", given: recordWith(...Array.from({ length: 2_001 }, () => ({}))), want: "more than 2000 fields" },
    { name: "a field without a path", given: recordWith({ since: AT }), want: "fields[0]" },
    { name: "a path to the selector", given: recordWith({ path: ["spec", "selector", "matchLabels", "app"], since: AT }), want: "fields[0]" },
    { name: "a path to the whole template", given: recordWith({ path: ["spec", "template"], since: AT }), want: "fields[0]" },
    { name: "a path through __proto__", given: recordWith({ path: ["__proto__", "x"], since: AT }), want: "fields[0]" },
    { name: "a path of 25 steps", given: recordWith({ path: ["spec", "template", ...Array.from({ length: 23 }, () => "a")], since: AT }), want: "fields[0]" },
    { name: "a step that is a number", given: recordWith({ path: ["spec", "template", 1], since: AT }), want: "fields[0]" },
    { name: "an empty key", given: recordWith({ path: ["spec", "template", { key: {} }], since: AT }), want: "fields[0]" },
  ]; // prettier-ignore
  test.each(rows)("is an error that names it: $name", ({ given, want }) => {
    expect(recordOf(withRecordText(given))).toEqual({ ok: false, error: expect.stringContaining(want) as string });
  });

  test.each(rows)("is replaced by an application, which reports it: $name", ({ given }) => {
    const applied = applyAt(withRecordText(given), PATCH);
    expect(applied.recordProblem).toContain(RECORD_ANNOTATION);
    expect(expectOk(recordOf(applied.deployment))?.fields.length).toBeGreaterThan(2);
  });

  test.each(rows)("is removed by a revert, which restores nothing: $name", ({ given }) => {
    const { deployment } = applyAt(ownedDeployment(), PATCH);
    const reverted = revertWorkloadPatch(withRecordText(given, deployment));
    expect(reverted.recordProblem).toBeDefined();
    expect(reverted.deployment.metadata).toMatchObject({ labels: { "lattice.dev/service": "web", app: "web" } });
    expect(reverted.deployment.metadata.annotations).toBeUndefined();
    expect(reverted.deployment.metadata.labels?.[PATCHED_LABEL]).toBeUndefined();
    expect(fieldAt(reverted.deployment, "spec")).toEqual(fieldAt(deployment, "spec"));
    const detached = applyAt(withRecordText(given, deployment), { ...PATCH, detach: true });
    expect(detached.deployment).toEqual(reverted.deployment);
  });

  test("is an error when it is not a text", () => {
    const broken = withRecordText(5 as unknown as string);
    expect(recordOf(broken)).toMatchObject({ ok: false });
  });

  test("does not count brackets in texts", () => {
    const owned = ownedDeployment({ args: [`\\"${"[{".repeat(100)}`] });
    const { deployment } = applyAt(owned, patchOf({ args: ["x"] }));
    expect(revertWorkloadPatch(deployment).deployment).toEqual(owned);
  });

  test("leaves the record of the object before in use", () => {
    const previous = applyAt(ownedDeployment(), PATCH).deployment;
    const again = expectOk(applyWorkloadPatch(withRecordText("{", previous), PATCH, { at: AT, previous }));
    expect(revertWorkloadPatch(again.deployment).deployment).toEqual(ownedDeployment());
  });
});

test("a record names a service with the longest names that there are", () => {
  const service = `${"a".repeat(63)}/${"b".repeat(253)}`;
  expect(expectOk(recordOf(withRecordText(JSON.stringify({ version: 1, service, fields: [] }))))?.service).toBe(service);
});

describe("a record that a user edited", () => {
  test("changes nothing outside of labels, annotations and the pod template", () => {
    const fields = [{ path: [...IMAGE_PATH.slice(0, -1), "__proto__", "polluted"], before: "yes", since: AT }];
    const { deployment } = revertWorkloadPatch(withRecordText(recordWith(...fields)));
    expect(({} as { polluted?: string }).polluted).toBeUndefined();
    expect(deployment).toEqual(ownedDeployment());
  });

  test("can restore a field named __proto__ as data", () => {
    const fields = [{ path: ["spec", "template", "metadata", "labels", "__proto__"], before: "x", since: AT }];
    const { deployment } = revertWorkloadPatch(withRecordText(recordWith(...fields)));
    const labels = fieldAt(deployment, "spec", "template", "metadata", "labels") as JsonObject;
    expect(Object.getOwnPropertyDescriptor(labels, "__proto__")?.value).toBe("x");
    expect(Object.getPrototypeOf(labels)).toBe(Object.prototype);
  });

  test("may name containers, lists and elements that are not there", () => {
    const none = ["spec", "template", "spec", "containers", { key: { name: "gone" } }, "env", { key: { name: "A" } }];
    const scalar = [...IMAGE_PATH, "deeper", { value: 1 }];
    const fields = [none, scalar].map((path) => ({ path, after: "x", before: "y", since: AT, index: 7, flips: [1, "t"], backoff: 3 }));
    expect(revertWorkloadPatch(withRecordText(recordWith(...fields))).deployment).toEqual(ownedDeployment());
  });

  test("lists fields that were changed since, with all three values, and leaves them", () => {
    const { deployment } = applyAt(ownedDeployment(), PATCH);
    const changed = JSON.parse(JSON.stringify(deployment).replace('"image":"web:2"', '"image":"web:3"')) as KubeObject;
    const reverted = revertWorkloadPatch(changed);
    expect(reverted.kept).toEqual([{ path: IMAGE_PATH, before: "web:1", after: "web:2", now: "web:3" }]);
    expect(JSON.stringify(reverted.deployment)).toBe(JSON.stringify(ownedDeployment({ image: "web:3" })));
    expect(reverted.restored).toHaveLength(3);
  });

  test("and the request annotation are gone after a revert", () => {
    const { deployment } = applyAt(ownedDeployment(), PATCH);
    const annotations = { ...deployment.metadata.annotations, [REQUEST_ANNOTATION]: "x", note: "own" };
    const requested = { ...deployment, metadata: { ...deployment.metadata, annotations } };
    expect(revertWorkloadPatch(requested).deployment.metadata.annotations).toEqual({ note: "own" });
  });
});

describe("the text of a workload patch", () => {
  const good = { version: 1, service: "shop/web", target: { namespace: "shop", name: "web" }, patch: {}, envFrom: {}, variables: {} };
  const rows: readonly { name: string; given: Json | object; want: string }[] = [
    { name: "another version", given: { ...good, version: 2 }, want: "version: must be 1" },
    { name: "a service without a namespace", given: { ...good, service: "web" }, want: "service: must be" },
    { name: "no target", given: { ...good, target: null }, want: "target: needs" },
    { name: "a patch that is a list", given: { ...good, patch: [] }, want: "patch: must be an object" },
    { name: "a change of the selector", given: { ...good, patch: { spec: { selector: {} } } }, want: "patch.spec.selector: only metadata.labels" },
    { name: "a change of the replicas", given: { ...good, patch: { spec: { replicas: 3 } } }, want: "patch.spec.replicas: only" },
    { name: "a change of the name", given: { ...good, patch: { metadata: { name: "x" } } }, want: "patch.metadata.name: only" },
    { name: "labels that are no object", given: { ...good, patch: { metadata: { labels: "x" } } }, want: "patch.metadata.labels: must be an object" },
    { name: "a root that is no object", given: { ...good, patch: { metadata: 1 } }, want: "patch.metadata: must be an object" },
    { name: "a directive", given: { ...good, patch: { spec: { template: { spec: { containers: [{ name: "a", $patch: "delete" }] } } } } }, want: "directives" },
    { name: "envFrom that is no object", given: { ...good, envFrom: [] }, want: "envFrom: must be an object" },
    { name: "envFrom without lists", given: { ...good, envFrom: { main: {} } }, want: "envFrom.main: must be a list of objects" },
    { name: "variables that are no object", given: { ...good, variables: 1 }, want: "variables: must be an object" },
    { name: "a variable with a value", given: { ...good, variables: { main: { A: "secret" } } }, want: "variables.main: must be an object of valueFrom objects" },
    { name: "consent without a label", given: { ...good, consent: { values: ["true"] } }, want: "consent: needs a label and a list of values" },
    { name: "consent without values", given: { ...good, consent: { label: "a", values: "true" } }, want: "consent: needs" },
    { name: "consent with other values", given: { ...good, consent: { label: "a", values: [true] } }, want: "consent: needs" },
    { name: "another detach", given: { ...good, detach: "yes" }, want: "detach: must be true or absent" },
  ]; // prettier-ignore
  test.each(rows)("is refused: $name", ({ given, want }) => {
    expect(parseWorkloadPatch(JSON.stringify(given))).toEqual({ ok: false, error: expect.stringContaining(want) as string });
  });

  test.each([
    { name: "not JSON", given: "{" },
    { name: "larger than 1 MiB", given: " ".repeat(1024 * 1024 + 1) },
    { name: "nested deeply", given: `${"[".repeat(400_000)}${"]".repeat(400_000)}` },
    { name: "nested more than 40 levels", given: JSON.stringify({ ...good, patch: { spec: { template: JSON.parse(`${'{"a":'.repeat(45)}1${"}".repeat(45)}`) as Json } } }) },
  ])("is refused: $name", ({ given }) => expect(parseWorkloadPatch(given)).toMatchObject({ ok: false })); // prettier-ignore

  test("does not depend on the order of fields, and is read back", () => {
    const patch = { ...PATCH, detach: true as const };
    const text = formatWorkloadPatch(patch);
    expect(formatWorkloadPatch(Object.fromEntries(Object.entries(patch).toReversed()) as typeof patch)).toBe(text);
    expect(expectOk(parseWorkloadPatch(text))).toEqual(patch);
  });

  test("may name containers __proto__ and constructor, which are reported as missing", () => {
    const text = JSON.stringify(good).replace('"envFrom":{}', '"envFrom":{"__proto__":[{}],"constructor":[{}]}');
    const applied = applyAt(ownedDeployment(), expectOk(parseWorkloadPatch(text)));
    expect(applied.missingContainers).toEqual(["__proto__", "constructor"]);
  });
});

describe("a Deployment that a server would refuse", () => {
  const rows: readonly { name: string; pod: JsonObject }[] = [
    { name: "null containers", pod: { containers: null } },
    { name: "containers that are a text", pod: { containers: "main" } },
    { name: "containers that are null", pod: { containers: [null, 1, "x", []] } },
    { name: "two containers with one name", pod: { containers: [{ name: "main", image: "a" }, { name: "main", image: "b" }] } },
    { name: "variables without names", pod: { containers: [{ name: "main", env: [null, {}, { value: "x" }, { name: 5 }] }] } },
    { name: "a container with own __proto__", pod: JSON.parse('{"containers":[{"name":"main","__proto__":{"image":"x"},"env":[{"name":"__proto__","value":"1"}]}]}') as JsonObject },
  ]; // prettier-ignore
  test.each(rows)("is patched and reverted without an error: $name", ({ pod }) => {
    const owned = ownedDeployment({}, pod);
    const patch = patchOf({ image: "web:2", env: [{ name: "A", value: "1" }, { name: "__proto__", value: "2" }] }, { envFrom: { main: [{ configMapRef: { name: "x" } }] } }); // prettier-ignore
    const { deployment } = applyAt(owned, patch);
    expect(JSON.stringify(revertWorkloadPatch(deployment).deployment)).toBe(JSON.stringify(owned));
    expect(applyAt(deployment, patch).changed).toBe(false);
    expect(jsonPatchBetween(deployment, owned).length).toBeGreaterThan(0);
  });

  test("is patched with hundreds of containers and variables", () => {
    const env = Array.from({ length: 200 }, (_, index) => ({ name: `V${index}`, value: "x".repeat(100) }));
    const containers = Array.from({ length: 100 }, (_, index) => ({ name: `c${index}`, image: "a", env }));
    const owned = ownedDeployment({}, { containers });
    const variables = { V0: { configMapKeyRef: { name: "n", key: "k" } } };
    const names = containers.map(({ name }) => name);
    const patch = patchOf({}, { envFrom: Object.fromEntries(names.map((name) => [name, [{ configMapRef: { name } }]])), variables: Object.fromEntries(names.map((name) => [name, variables])) }); // prettier-ignore
    const { deployment } = applyAt(owned, patch);
    expect(JSON.stringify(revertWorkloadPatch(deployment).deployment)).toBe(JSON.stringify(owned));
  });

  test("with 500 containers of 50 variables is patched in 16 of them, as many as a service can have, or is left as it is", () => {
    const env = Array.from({ length: 50 }, (_, index) => ({ name: `V${index}`, value: "x" }));
    const containers = Array.from({ length: 500 }, (_, index) => ({ name: `c${index}`, image: "a", env }));
    const owned = ownedDeployment({}, { containers });
    const patched = (from: number) => containers.slice(from, from + 16).map(({ name }) => ({ name, image: "b", env: env.slice(0, 20) }));
    const { deployment } = applyAt(owned, podPatch({ containers: patched(484) }));
    expect(containersOf(deployment).filter(({ image }) => image === "b")).toHaveLength(16);
    expect(JSON.stringify(revertWorkloadPatch(deployment).deployment)).toBe(JSON.stringify(owned));
    const all = podPatch({ containers: containers.map(({ name }) => ({ name, env: env.map((one) => ({ ...one, value: "y" })) })) });
    expect(applyWorkloadPatch(owned, all, { at: AT })).toMatchObject({ ok: false, error: { kind: "lists-too-long" } });
  });
});

test.each([null, [], "text", 5])("annotations that are no object count as none: %j", (annotations) => {
  const owned = ownedDeployment();
  const given = { ...owned, metadata: { ...owned.metadata, annotations } } as unknown as KubeObject;
  const { deployment } = applyAt(given, patchOf({ image: "web:2" }));
  expect(Object.keys(deployment.metadata.annotations ?? {})).toEqual([RECORD_ANNOTATION]);
  expect(revertWorkloadPatch(given).restored).toEqual([]);
});
