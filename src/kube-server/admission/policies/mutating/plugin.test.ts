/** Mutating policies in a server: the changes that they make, those that are refused, and the messages. */
import { describe, expect, it } from "vitest";
import { fieldAt, type Json } from "#kube";
import { listOf } from "#cel";
import { addMutating, addValidating, configMap, CONFIG_MAPS, messageOf, policyServer } from "../policy.test-support.ts";
import { applyOperations } from "./json-patch.ts";

const apply = (...expressions: string[]) => ({
  mutations: expressions.map((expression) => ({ patchType: "ApplyConfiguration", applyConfiguration: { expression } })),
});
const patch = (...expressions: string[]) => ({
  mutations: expressions.map((expression) => ({ patchType: "JSONPatch", jsonPatch: { expression } })),
});

type Given = { readonly object?: Json; readonly binding?: object };

async function mutated(spec: object, { object = configMap("c", { x: "1" }), binding }: Given = {}): Promise<Json> {
  const running = policyServer();
  await addMutating(running, { spec, ...(binding === undefined ? {} : { binding }) });
  const path = fieldAt(object, "kind") === "Pod" ? "/api/v1/namespaces/default/pods" : CONFIG_MAPS;
  return (await running.ask("POST", path, { body: object })).body;
}

const pod: Json = {
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name: "p" },
  spec: { serviceAccountName: "default", containers: [{ name: "c", image: "i" }] },
};

const denied = (why: string): string => `policy 'p' with binding 'p-binding' denied request: ${why}`;
const untyped = "error applying patch: failed to convert patch object to typed object:";

describe("ApplyConfiguration", () => {
  it("merges the values of its mutations in order", async () => {
    const made = await mutated(apply("Object{data: {'y': '2'}}", "Object{data: {'n': string(object.data.size())}}"));
    expect(fieldAt(made, "data")).toEqual({ x: "1", y: "2", n: "2" });
  });

  it("merges lists by their keys, with defaults for new items", async () => {
    const list = "[Object.spec.containers{name: 'c', imagePullPolicy: 'Never'}, Object.spec.containers{name: 'side', image: 's'}]";
    const made = await mutated(apply(`Object{spec: Object.spec{containers: ${list}}}`), { object: pod });
    const containers = fieldAt(made, "spec", "containers") as readonly Json[];
    expect(containers.map((one) => [fieldAt(one, "name"), fieldAt(one, "image"), fieldAt(one, "imagePullPolicy")])).toEqual([
      ["c", "i", "Never"],
      ["side", "s", "Always"],
    ]);
    expect(fieldAt(containers[1], "resources")).toEqual({});
  });

  it("leaves out optional fields that have no value", async () => {
    const expression = "Object{metadata: Object.metadata{?labels: optional.none(), ?annotations: optional.of({'a': 'b'})}}";
    expect(fieldAt(await mutated(apply(expression)), "metadata", "annotations")).toEqual({ a: "b" });
  });

  it.each([
    {
      name: "an unknown field",
      given: "Object{spec: Object.spec{nope: 1}}",
      want: `${untyped} .spec.nope: field not declared in schema`,
    },
    {
      name: "a value of another type",
      given: "Object{spec: Object.spec{hostNetwork: 'yes'}}",
      want: `${untyped} .spec.hostNetwork: expected boolean, got &{yes}`,
    },
    {
      name: "a struct in the wrong place",
      given: "Object{spec: Object.wrong{hostNetwork: true}}",
      want: 'type mismatch: unexpected type name "Object.wrong", expected "Object.spec", which matches field name path from root Object type',
    },
    {
      name: "an atomic list or map",
      given: "Object{spec: Object.spec{tolerations: [Object.spec.tolerations{key: 'x'}]}}",
      want: "error applying patch: invalid ApplyConfiguration: may not mutate atomic arrays, maps or structs: .spec.tolerations",
    },
    {
      name: "null for a number",
      given: "Object{spec: Object.spec{priority: null}}",
      want: `${untyped} .spec.priority: expected numeric (int or float), got structpb.NullValue`,
    },
    {
      name: "null for a list",
      given: "Object{spec: Object.spec{containers: null}}",
      want: `${untyped} .spec.containers: expected list, got &{NULL_VALUE}`,
    },
    { name: "null for a map", given: "Object{spec: null}", want: `${untyped} .spec: expected map, got &{NULL_VALUE}` },
    {
      name: "null for a text",
      given: "Object{spec: Object.spec{hostname: null}}",
      want: `${untyped} .spec.hostname: expected string, got &value.valueUnstructured{Value:0}`,
    },
    {
      name: "null in a list",
      given: "Object{spec: Object.spec{containers: [Object.spec.containers{name: 'c', stdin: null}]}}",
      want: undefined,
    },
    {
      name: "a failed expression",
      given: "Object{spec: Object.spec{hostname: object.nope}}",
      want: "expression 'Object{spec: Object.spec{hostname: object.nope}}' resulted in error: no such key: nope",
    },
    {
      name: "a time",
      given: "Object{spec: Object.spec{hostname: quantity('1')}}",
      want: "type conversion error from 'Quantity' to '*structpb.Value'",
    },
  ])("refuses $name", async ({ given, want }) => {
    const { kind, message } = (await mutated(apply(given), { object: pod })) as Record<string, Json>;
    if (want === undefined) expect(message).toContain("expected boolean, got &{NULL_VALUE}");
    else expect([kind, message]).toEqual(["Status", denied(want)]);
  });

  it("refuses a Scale", async () => {
    const running = policyServer();
    const spec = {
      replicas: 1,
      selector: { matchLabels: { a: "b" } },
      template: { metadata: { labels: { a: "b" } }, spec: { containers: [{ name: "c", image: "i" }] } },
    };
    const path = "/apis/apps/v1/namespaces/default/deployments";
    await running.ask("POST", path, { body: { apiVersion: "apps/v1", kind: "Deployment", metadata: { name: "d" }, spec } });
    await addMutating(running, { spec: apply("Object{spec: Object.spec{replicas: 2}}") });
    const scale = { body: { spec: { replicas: 9 } }, type: "application/merge-patch+json" };
    expect(messageOf(await running.ask("PATCH", `${path}/d/scale`, scale))).toBe(
      denied(`${untyped} no corresponding type for autoscaling/v1, Kind=Scale`),
    );
  });

  it("cannot convert back to another version of a built-in kind", async () => {
    const running = policyServer();
    const rule = { apiGroups: ["autoscaling"], apiVersions: ["v1"], operations: ["CREATE"], resources: ["horizontalpodautoscalers"] };
    await addMutating(running, {
      spec: { matchConstraints: { resourceRules: [rule] }, ...apply("Object{metadata: Object.metadata{labels: {'a': 'b'}}}") },
    });
    const body = {
      apiVersion: "autoscaling/v2",
      kind: "HorizontalPodAutoscaler",
      metadata: { name: "h" },
      spec: { maxReplicas: 3, scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "d" } },
    };
    const answer = await running.ask("POST", "/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers", { body });
    expect(messageOf(answer)).toBe(denied("converting (v1.HorizontalPodAutoscaler) to (v2.HorizontalPodAutoscaler): unknown conversion"));
  });
});

describe("JSONPatch", () => {
  it.each([
    { name: "adds", given: "[JSONPatch{op: 'add', path: '/data/y', value: '2'}]", want: { x: "1", y: "2" } },
    { name: "moves", given: "[JSONPatch{op: 'move', from: '/data/x', path: '/data/y'}]", want: { y: "1" } },
    {
      name: "stops at a test that fails",
      given: "[JSONPatch{op: 'test', path: '/data/x', value: '2'}, JSONPatch{op: 'remove', path: '/data/x'}]",
      want: { x: "1" },
    },
    {
      name: "escapes keys",
      given:
        "[JSONPatch{op: 'add', path: '/metadata/annotations', value: {'example.com/x': '2'}}, JSONPatch{op: 'copy', from: '/metadata/annotations/' + jsonpatch.escapeKey('example.com/x'), path: '/data/y'}]",
      want: { x: "1", y: "2" },
    },
    { name: "writes bytes and times as texts", given: "[JSONPatch{op: 'add', path: '/data', value: {'a': b'abc'}}]", want: { a: "YWJj" } },
    { name: "does nothing without operations", given: "[]", want: { x: "1" } },
  ])("$name", async ({ given, want }) => {
    const expression = given === "[]" ? "has(object.nope) ? [JSONPatch{op: 'remove', path: '/data'}] : []" : given;
    expect(fieldAt(await mutated(patch(expression)), "data")).toEqual(want);
  });

  it.each([
    {
      name: "a path that does not exist",
      given: "[JSONPatch{op: 'remove', path: '/data/nope'}]",
      want: /^policy 'p' .* JSON Patch: .*nope/,
    },
    {
      name: "a map with other keys than texts",
      given: "[JSONPatch{op: 'add', path: '/data', value: {1: 'a'}}]",
      want: /unsupported type conversion from 'int' to string/,
    },
    {
      name: "a struct in the wrong place",
      given: "[JSONPatch{op: 'add', path: '/data', value: Object.data{a: Object.b{}}}]",
      want: /type mismatch: unexpected type name "Object.b"/,
    },
    {
      name: "another kind",
      given: "[JSONPatch{op: 'replace', path: '/kind', value: 'Secret'}]",
      want: /^Internal error occurred: failed to convert object: converting \(v1.Secret\) to \(core.ConfigMap\): unknown conversion/,
    },
    {
      name: "unknown fields",
      given: "[JSONPatch{op: 'add', path: '/nope', value: 1}]",
      want: /^Internal error occurred: strict decoding error: unknown field "nope"/,
    },
    {
      name: "numbers too large for JSON",
      given: "[JSONPatch{op: 'add', path: '/metadata/generation', value: 9007199254740993}]",
      want: /^Internal error occurred: json: cannot unmarshal string into Go struct field ObjectMeta.metadata.generation/,
    },
  ])("refuses $name", async ({ given, want }) => {
    expect(fieldAt(await mutated(patch(given)), "message")).toMatch(want);
  });

  it("refuses more operations, or longer values, than one patch may have", async () => {
    const each = (count: number) => `lists.range(${count}).map(i, JSONPatch{op: 'add', path: '/data/y', value: object.data.x})`;
    const object = configMap("c", { x: "x".repeat(10_000) });
    expect(fieldAt(await mutated(patch(each(300)), { object }), "data", "y")).toHaveLength(10_000);
    expect(fieldAt(await mutated(patch(each(400)), { object }), "message")).toContain("JSON Patch: has more than 3145728 characters");
    const many = applyOperations(
      { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "c" } },
      undefined,
      listOf(Array.from({ length: 10_001 }, () => "")),
    );
    expect(many).toEqual({ ok: false, error: "JSON Patch: has 10001 operations; at most 10000 are allowed" });
  });

  it("changes a Scale", async () => {
    const running = policyServer();
    const spec = {
      replicas: 1,
      selector: { matchLabels: { a: "b" } },
      template: { metadata: { labels: { a: "b" } }, spec: { containers: [{ name: "c", image: "i" }] } },
    };
    const path = "/apis/apps/v1/namespaces/default/deployments";
    await running.ask("POST", path, { body: { apiVersion: "apps/v1", kind: "Deployment", metadata: { name: "d" }, spec } });
    await addMutating(running, { spec: patch("[JSONPatch{op: 'replace', path: '/spec/replicas', value: 3}]") });
    const scale = { body: { spec: { replicas: 9 } }, type: "application/merge-patch+json" };
    expect(fieldAt((await running.ask("PATCH", `${path}/d/scale`, scale)).body, "spec")).toEqual({ replicas: 3 });
  });
});

describe("a mutating policy", () => {
  it("skips requests that it does not match or that its conditions exclude", async () => {
    const conditions = { matchConditions: [{ name: "m", expression: "object.metadata.name == 'other'" }] };
    expect(fieldAt(await mutated({ ...conditions, ...apply("Object{data: {'y': '2'}}") }), "data")).toEqual({ x: "1" });
    const selector = { matchResources: { objectSelector: { matchLabels: { a: "b" } } } };
    expect(fieldAt(await mutated(apply("Object{data: {'y': '2'}}"), { binding: selector }), "data")).toEqual({ x: "1" });
  });

  it("under failurePolicy Ignore skips failed mutations", async () => {
    const spec = { failurePolicy: "Ignore", ...apply("Object{data: {'a': object.data.nope}}", "Object{data: {'b': '1'}}") };
    expect(fieldAt(await mutated(spec), "data")).toEqual({ x: "1", b: "1" });
    const broken = {
      failurePolicy: "Ignore",
      matchConditions: [{ name: "m", expression: "object.data.nope == 'x'" }],
      ...apply("Object{immutable: true}"),
    };
    expect(fieldAt(await mutated(broken), "immutable")).toBeUndefined();
  });

  it("lists all errors as causes, and the first as the message", async () => {
    const body = await mutated(apply("Object{data: {'a': object.data.nope}}", "Object{data: {'a': object.data.neither}}"));
    const causes = fieldAt(body, "details", "causes") as readonly Json[];
    expect(causes).toHaveLength(2);
    expect([fieldAt(body, "code"), fieldAt(body, "reason"), fieldAt(body, "message")]).toEqual([
      403,
      "Invalid",
      fieldAt(causes[0], "message"),
    ]);
  });

  it("whose conditions fail denies", async () => {
    const spec = { matchConditions: [{ name: "m", expression: "object.data.nope == 'x'" }], ...apply("Object{}") };
    expect(fieldAt(await mutated(spec), "message")).toBe(
      denied("expression 'object.data.nope == 'x'' resulted in error: no such key: nope"),
    );
  });

  it("whose params are missing denies, as forbidden", async () => {
    const paramKind = { apiVersion: "v1", kind: "ConfigMap" };
    const binding = { paramRef: { name: "nope", parameterNotFoundAction: "Deny" } };
    const body = await mutated({ paramKind, ...apply("Object{data: {'a': params.data.x}}") }, { binding });
    expect([fieldAt(body, "reason"), fieldAt(body, "message")]).toEqual([
      "Forbidden",
      denied("failed to configure binding: no params found for policy binding with `Deny` parameterNotFoundAction"),
    ]);
    const unknown = await mutated({ paramKind: { apiVersion: "nope.com/v1", kind: "Nope" }, ...apply("Object{}") });
    expect(fieldAt(unknown, "message")).toBe(
      `policy "p" denied request: failed to configure policy: failed to find resource referenced by paramKind: 'nope.com/v1, Kind=Nope'`,
    );
  });

  it("runs once per param, with variables", async () => {
    const running = policyServer();
    for (const name of ["a", "b"]) await running.ask("POST", CONFIG_MAPS, { body: configMap(name, {}, { role: "param" }) });
    const spec = {
      paramKind: { apiVersion: "v1", kind: "ConfigMap" },
      variables: [{ name: "key", expression: "'from-' + params.metadata.name" }],
      ...patch("[JSONPatch{op: 'add', path: '/data/' + variables.key, value: 'x'}]"),
    };
    const paramRef = { selector: { matchLabels: { role: "param" } }, parameterNotFoundAction: "Deny" };
    await addMutating(running, { spec, binding: { paramRef } });
    const { body } = await running.ask("POST", CONFIG_MAPS, { body: configMap("c", { y: "1" }) });
    expect(fieldAt(body, "data")).toEqual({ y: "1", "from-a": "x", "from-b": "x" });
  });

  it.each([
    { policy: "IfNeeded", want: "2" },
    { policy: "Never", want: "1" },
  ])("with reinvocationPolicy $policy counts $want", async ({ policy, want }) => {
    const running = policyServer();
    await addMutating(running, {
      name: "a",
      spec: { reinvocationPolicy: policy, ...apply("Object{metadata: Object.metadata{annotations: {'n': string(object.data.size())}}}") },
    });
    await addMutating(running, { name: "b", spec: apply("Object{data: {'extra': 'x'}}") });
    const { body } = await running.ask("POST", CONFIG_MAPS, { body: configMap("c", { x: "1" }) });
    expect(fieldAt(body, "metadata", "annotations")).toEqual({ n: want });
  });

  it("cannot create an object with a deletionTimestamp", async () => {
    const terminating = "[JSONPatch{op: 'add', path: '/metadata/deletionTimestamp', value: '2001-01-01T00:00:00Z'}]";
    const body = await mutated(patch(terminating));
    expect([fieldAt(body, "metadata", "name"), fieldAt(body, "metadata", "deletionTimestamp")]).toEqual(["c", undefined]);
  });

  it("does not run for deletions and for policies", async () => {
    const running = policyServer();
    await running.ask("POST", CONFIG_MAPS, { body: configMap("c") });
    await addMutating(running, { spec: apply("Object{metadata: Object.metadata{labels: {'a': 'b'}}}") });
    expect((await running.ask("DELETE", `${CONFIG_MAPS}/c`)).status).toBe(200);
    await addValidating(running, { spec: { validations: [{ expression: "true" }] } });
    const stored = running.server.store.get("admissionregistration.k8s.io/validatingadmissionpolicies", "p");
    expect(stored?.object.metadata.labels).toBeUndefined();
  });
});
