/** Webhooks end to end: a server, a webhook, and the results of requests. */
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { JsonObject } from "#kube";
import type { User } from "../../protocol/request.ts";
import { CONFIG_MAPS, configMap, messageOf, patchOf, startWorld, type World } from "./webhook-world.test-support.ts";

let world: World;

beforeEach(async () => {
  world = await startWorld();
});
afterEach(() => world.close());

const create = (name: string, more: JsonObject = {}, query = "") =>
  world.ask("POST", `${CONFIG_MAPS}${query}`, { body: configMap(name, more) });

describe("a sidecar injector", () => {
  const pods = { rules: [{ apiGroups: [""], apiVersions: ["v1"], operations: ["CREATE"], resources: ["pods"] }] };
  const pod = (name: string, labels: JsonObject) => ({ metadata: { name, labels }, spec: { containers: [{ name: "app", image: "i" }] } });

  test("adds its container to the pods that it selects, and the server sets their defaults", async () => {
    world.responses.set("inject", () => patchOf({ op: "add", path: "/spec/containers/-", value: { name: "sidecar", image: "proxy:1" } }));
    await world.configure("Mutating", "inject", [world.hook("inject", { ...pods, objectSelector: { matchLabels: { inject: "yes" } } })]);
    const injected = await world.ask("POST", "/api/v1/namespaces/default/pods", { body: pod("a", { inject: "yes" }) });
    expect(injected.body).toMatchObject({
      spec: { containers: [{ name: "app" }, { name: "sidecar", image: "proxy:1", imagePullPolicy: "IfNotPresent" }] },
    });
    // the client's field manager owns the fields that it applied; those that a webhook added have no manager
    expect(JSON.stringify((injected.body as JsonObject)["metadata"])).not.toContain("sidecar");
    const plain = await world.ask("POST", "/api/v1/namespaces/default/pods", { body: pod("b", {}) });
    expect(plain.body).toMatchObject({ spec: { containers: [{ name: "app" }] } });
    expect(world.called()).toEqual(["inject"]);
  });
});

describe("a denial by a webhook", () => {
  test.each([
    {
      name: "without a status",
      response: {},
      want: { code: 400, message: 'admission webhook "deny.lattice.test" denied the request without explanation' },
    },
    {
      name: "with a message",
      response: { status: { message: "not here", code: 403, reason: "Forbidden" } },
      want: { code: 403, reason: "Forbidden", message: 'admission webhook "deny.lattice.test" denied the request: not here' },
    },
    {
      name: "with a reason",
      response: { status: { reason: "Policy", code: 200, status: "Success" } },
      want: { code: 400, status: "Failure", message: expect.stringContaining(": Policy") },
    },
    {
      name: "with details",
      response: { status: { metadata: { continue: "x" }, status: "Odd", details: { name: "n", causes: [{ field: "f" }] } } },
      want: { status: "Odd", metadata: { continue: "x" }, details: { name: "n", causes: [{ field: "f" }] } },
    },
  ])("$name ends the request", async ({ response, want }) => {
    world.responses.set("deny", () => ({ allowed: false, ...response }));
    await world.configure("Validating", "deny", [world.hook("deny", { failurePolicy: "Ignore" })]);
    expect((await create("c")).body).toMatchObject(want);
    expect((await world.ask("GET", `${CONFIG_MAPS}/c`)).status).toBe(404);
  });

  test("ends a deletion too, and the review has the object to be deleted", async () => {
    await create("c");
    world.responses.set("deny", ({ operation, oldObject, object }) => ({
      allowed: operation !== "DELETE" || object !== null || oldObject === null,
    }));
    await world.configure("Validating", "deny", [world.hook("deny")]);
    expect((await world.ask("DELETE", `${CONFIG_MAPS}/c`)).status).toBe(400);
    expect((await world.ask("GET", `${CONFIG_MAPS}/c`)).status).toBe(200);
  });
});

describe("a webhook that is down", () => {
  const dead = { clientConfig: { url: "https://127.0.0.1:1/x" } };
  const why =
    'failed calling webhook "down.lattice.test": failed to call webhook: Post "https://127.0.0.1:1/x?timeout=10s": dial tcp 127.0.0.1:1: connect: connection refused';
  test.each(["Mutating", "Validating"] as const)("ends requests under failurePolicy Fail: %s", async (kind) => {
    await world.configure(kind, "down", [world.hook("down", dead)]);
    expect((await create("c")).body).toMatchObject({
      code: 500,
      reason: "InternalError",
      message: `Internal error occurred: ${why}`,
      details: { causes: [{ message: why }] },
    });
  });
  test.each(["Mutating", "Validating"] as const)("is ignored under failurePolicy Ignore: %s", async (kind) => {
    await world.configure(kind, "down", [world.hook("down", { ...dead, failurePolicy: "Ignore" })]);
    expect((await create("c")).status).toBe(201);
  });
});

test("a slow webhook is waited for until its timeoutSeconds, and its timer is removed", async () => {
  world.responses.set("slow", () => ({ silent: true }));
  await world.configure("Validating", "slow", [world.hook("slow", { timeoutSeconds: 2 })]);
  const created = create("c");
  while (world.webhook.received.length === 0) await world.clock.advance(0);
  await world.clock.advance(2_000);
  expect(messageOf((await created).body)).toMatch(/failed to call webhook: Post ".*\/slow\?timeout=2s": context deadline exceeded$/);
  expect(world.clock.pending).toBe(0);
});

describe("the hooks that are called", () => {
  test("without configurations there are none, and the request completes synchronously", async () => {
    const answered = world.server.handle(
      {
        method: "POST",
        path: CONFIG_MAPS,
        query: new URLSearchParams(),
        headers: {},
        body: { value: configMap("c") },
        user: { name: "a", uid: "", groups: ["system:masters"] },
      },
      new AbortController().signal,
    );
    expect(world.server.store.get("/configmaps", "default/c")).toBeDefined();
    expect((await answered).status).toBe(201);
  });

  test("are ordered by configuration name and position, validating ones after all mutating ones", async () => {
    await world.configure("Mutating", "b", [world.hook("b1")]);
    await world.configure("Mutating", "a", [world.hook("a1"), world.hook("a2")]);
    await world.configure("Validating", "a", [world.hook("v")]);
    await create("c");
    expect(world.called()).toEqual(["a1", "a2", "b1", "v"]);
  });

  test("follow a changed configuration at once, and a deletion", async () => {
    await world.configure("Validating", "a", [world.hook("v")]);
    await create("c1");
    const url = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/a";
    const type = "application/json-patch+json";
    await world.ask("PATCH", url, {
      type,
      body: [{ op: "replace", path: "/webhooks/0/clientConfig/url", value: `${world.webhook.url}/w` }],
    });
    await create("c2");
    await world.ask("DELETE", url);
    await create("c3");
    expect(world.called()).toEqual(["v", "w"]);
  });

  test("exclude those for configurations of admission itself", async () => {
    const rules = [{ apiGroups: ["*"], apiVersions: ["*"], operations: ["*"], resources: ["*/*"] }];
    world.responses.set("v", () => ({ allowed: false }));
    await world.configure("Validating", "a", [world.hook("v", { rules })]);
    await world.configure("Mutating", "b", [world.hook("m", { rules })]);
    const url = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/a";
    expect((await world.ask("DELETE", url)).status).toBe(200);
    expect(world.called()).toEqual([]);
  });

  test("are those whose selectors and conditions match", async () => {
    await world.configure("Validating", "a", [
      world.hook("other-namespace", { namespaceSelector: { matchLabels: { a: "b" } } }),
      world.hook("namespace", { namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": "default" } } }),
      world.hook("other-object", { objectSelector: { matchLabels: { a: "b" } } }),
      world.hook("false", { matchConditions: [{ name: "a", expression: "request.name == 'x'" }] }),
      world.hook("true", { matchConditions: [{ name: "a", expression: "object.data.a == '1' && request.operation == 'CREATE'" }] }),
      world.hook("open", { failurePolicy: "Ignore", matchConditions: [{ name: "a", expression: "object.nope == 1" }] }),
    ]);
    await create("c");
    expect(world.called().toSorted()).toEqual(["namespace", "true"]);
  });

  test("a condition on names has the same result again, one on the object or the user is evaluated for each request", async () => {
    const hooks = {
      name: "request.namespace + '/' + request.name in ['default/c']",
      operation: "request.operation == 'UPDATE'",
      object: "object.data.a == '2'",
      either: "request.name == 'c' && object.data.a == '2'",
      user: "request.userInfo.username == 'bob' || request.name == 'd'",
    };
    await world.configure(
      "Mutating",
      "a",
      Object.entries(hooks).map(([name, expression]) => world.hook(name, { matchConditions: [{ name: "a", expression }] })),
    );
    const put = async (name: string, a: string, user?: User) => {
      await world.ask("PUT", `${CONFIG_MAPS}/${name}`, { body: configMap(name, { data: { a } }), ...(user === undefined ? {} : { user }) });
      return world.called();
    };
    const bob: User = { name: "bob", uid: "", groups: ["system:masters"] };
    await create("c");
    expect(world.called()).toEqual(["name"]);
    await create("d");
    expect(world.called()).toEqual(["user"]);
    for (let again = 0; again < 2; again += 1) {
      expect(await put("c", "1")).toEqual(["name", "operation"]);
      expect(await put("c", "2")).toEqual(["name", "operation", "object", "either"]);
      expect(await put("c", "1", bob)).toEqual(["name", "operation", "user"]);
      expect(await put("d", "2")).toEqual(["operation", "object", "user"]);
    }
  });

  test("a condition is evaluated again after its configuration was changed", async () => {
    const hook = (name: string) => world.hook("v", { matchConditions: [{ name: "a", expression: `request.name == '${name}'` }] });
    await world.configure("Mutating", "a", [hook("c")]);
    await create("c");
    expect(world.called()).toEqual(["v"]);
    const url = "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations/a";
    await world.ask("PATCH", url, { body: { webhooks: [hook("d")] }, type: "application/merge-patch+json" });
    await world.ask("DELETE", `${CONFIG_MAPS}/c`);
    await create("c");
    expect(world.called()).toEqual([]);
    await create("d");
    expect(world.called()).toEqual(["v"]);
  });

  test.each(["Mutating", "Validating"] as const)("a failed condition denies the request: %s", async (kind) => {
    await world.configure(kind, "a", [world.hook("v", { matchConditions: [{ name: "a", expression: "object.nope == 1" }] })]);
    expect((await create("c")).body).toMatchObject({
      code: 403,
      message: "configmaps \"c\" is forbidden: expression 'object.nope == 1' resulted in error: no such key: nope",
    });
  });
});

describe("the review", () => {
  test("has the user, operation and resource in Go's order", async () => {
    await world.configure("Validating", "a", [world.hook("v")]);
    await create("c", {}, "?fieldManager=me&dryRun=All");
    const [received] = world.webhook.received;
    expect(received?.text.endsWith("\n")).toBe(true);
    const { kind, apiVersion, request } = JSON.parse(received?.text ?? "") as { kind: string; apiVersion: string; request: JsonObject };
    expect([kind, apiVersion]).toEqual(["AdmissionReview", "admission.k8s.io/v1"]);
    expect(Object.keys(request)).toEqual(
      "uid kind resource requestKind requestResource name namespace operation userInfo object oldObject dryRun options".split(" "),
    );
    expect(request).toMatchObject({
      kind: { group: "", version: "v1", kind: "ConfigMap" },
      resource: { group: "", version: "v1", resource: "configmaps" },
      name: "c",
      namespace: "default",
      operation: "CREATE",
      userInfo: { username: "admin", groups: ["system:masters"] },
      object: { metadata: { name: "c", uid: expect.any(String) } },
      oldObject: null,
      dryRun: true,
      options: { kind: "CreateOptions", fieldManager: "me", dryRun: ["All"] },
    });
  });

  test("of v1beta1 is sent to a hook that lists it first, and its response is hardly checked", async () => {
    world.responses.set("old", () => ({
      body: {
        apiVersion: "admission.k8s.io/v1beta1",
        kind: "AdmissionReview",
        response: { allowed: true, patch: Buffer.from('[{"op":"add","path":"/data/b","value":"2"}]').toString("base64") },
      },
    }));
    await world.configure("Mutating", "a", [world.hook("old", { admissionReviewVersions: ["v1beta1", "v1"] })]);
    expect((await create("c")).body).toMatchObject({ data: { a: "1", b: "2" } });
    expect(JSON.parse(world.webhook.received[0]?.text ?? "")).toMatchObject({ apiVersion: "admission.k8s.io/v1beta1" });
  });

  test("has the object in the version that the rule names, and the patch is converted back", async () => {
    world.responses.set("v1", () => patchOf({ op: "replace", path: "/spec/targetCPUUtilizationPercentage", value: 77 }));
    const rules = [{ apiGroups: ["autoscaling"], apiVersions: ["v1"], operations: ["CREATE"], resources: ["horizontalpodautoscalers"] }];
    await world.configure("Mutating", "a", [world.hook("v1", { rules }), world.hook("exact", { rules, matchPolicy: "Exact" })]);
    await world.configure("Validating", "a", [
      world.hook("seen", { rules, matchConditions: [{ name: "a", expression: "object.spec.targetCPUUtilizationPercentage == 77" }] }),
    ]);
    const metrics = [{ type: "Resource", resource: { name: "cpu", target: { type: "Utilization", averageUtilization: 50 } } }];
    const spec = { maxReplicas: 3, scaleTargetRef: { kind: "Deployment", name: "d", apiVersion: "apps/v1" }, metrics };
    const url = "/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers";
    const made = await world.ask("POST", url, { body: { metadata: { name: "h" }, spec } });
    expect(made.body).toMatchObject({ spec: { metrics: [{ resource: { target: { averageUtilization: 77 } } }] } });
    expect(JSON.parse(world.webhook.received[0]?.text ?? "")).toMatchObject({
      request: {
        kind: { version: "v1" },
        requestKind: { version: "v2" },
        resource: { version: "v1" },
        requestResource: { version: "v2" },
        object: { apiVersion: "autoscaling/v1", spec: { targetCPUUtilizationPercentage: 50 } },
      },
    });
    expect(world.called()).toEqual(["v1", "seen"]);
  });
});

test("warnings reach the client with every response", async () => {
  world.responses.set("w", () => ({ warnings: ["careful", "", "line\nbreak"] }));
  world.responses.set("no", () => ({ allowed: false, warnings: ["and no"] }));
  await world.configure("Mutating", "a", [world.hook("w")]);
  expect((await create("c")).response.warnings).toEqual(["careful"]);
  await world.configure("Validating", "a", [world.hook("no")]);
  expect((await create("d")).response.warnings).toEqual(["careful", "and no"]);
});

test("a dry run calls no hook with side effects", async () => {
  const store = world.server.store;
  await world.configure("Validating", "a", [world.hook("v")]);
  const stored = store.get("admissionregistration.k8s.io/validatingwebhookconfigurations", "a");
  const hooks = world.hook("v", { sideEffects: "Some" });
  store.write({
    collection: "admissionregistration.k8s.io/validatingwebhookconfigurations",
    key: "a",
    expected: stored?.revision,
    object: () => ({ ...stored?.object, webhooks: [hooks] }) as never,
  });
  expect((await create("c", {}, "?dryRun=All")).body).toMatchObject({
    code: 400,
    reason: "BadRequest",
    message: 'admission webhook "v.lattice.test" does not support dry run',
  });
  expect((await create("c")).status).toBe(201);
});

describe("a mutating webhook", () => {
  const mutated = async (response: JsonObject, more: JsonObject = {}) => {
    world.responses.set("m", () => response);
    await world.configure("Mutating", "a", [world.hook("m", more)]);
    return create("c");
  };
  const encoded = (text: string): JsonObject => ({ patchType: "JSONPatch", patch: Buffer.from(text).toString("base64") });
  const failing = (problem: string) => `Internal error occurred: failed calling webhook "m.lattice.test": ${problem}`;

  test.each([
    {
      name: "a patch without its type",
      response: { patch: "W10=" },
      want: failing("received invalid webhook response: webhook returned response.patch but not response.patchType"),
    },
    {
      name: "a type without its patch",
      response: { patchType: "JSONPatch" },
      want: failing("received invalid webhook response: webhook returned response.patchType but not response.patch"),
    },
    {
      name: "an empty type",
      response: { patchType: "", patch: "W10=" },
      want: failing('received invalid webhook response: webhook returned invalid response.patchType of ""'),
    },
    {
      name: "another type",
      response: { ...encoded('[{"op":"add","path":"/a","value":1}]'), patchType: "Merge" },
      want: failing('unsupported patch type "Merge"'),
    },
    {
      name: "no list",
      response: encoded("{}"),
      want: failing("received undecodable patch in webhook response: json: cannot unmarshal object into Go value of type jsonpatch.Patch"),
    },
    {
      name: "no operations",
      response: encoded("[5]"),
      want: failing(
        "received undecodable patch in webhook response: json: cannot unmarshal number into Go value of type jsonpatch.Operation",
      ),
    },
    {
      name: "no JSON",
      response: encoded("nope"),
      want: failing("received undecodable patch in webhook response: invalid character 'o' in literal null (expecting 'u')"),
    },
    {
      name: "broken base64",
      response: { patchType: "JSONPatch", patch: "%%%" },
      want: failing("failed to call webhook: illegal base64 data at input byte 0"),
    },
    { name: "an empty operation", response: encoded("[null]"), want: "Internal error occurred: Unexpected kind: unknown" },
    {
      name: "a path that does not exist",
      response: patchOf({ op: "remove", path: "/data/x" }),
      want: "Internal error occurred: error in remove for path: '/data/x': Unable to remove nonexistent key: x: missing value",
    },
    {
      name: "a wrong type",
      response: patchOf({ op: "add", path: "/data", value: 5 }),
      want: "Internal error occurred: json: cannot unmarshal number into Go struct field ConfigMap.data of type map[string]string",
    },
    {
      name: "another kind",
      response: patchOf({ op: "replace", path: "/kind", value: "Service" }),
      want: "Internal error occurred: converting (v1.Service) to (v1.ConfigMap): unknown conversion",
    },
    {
      name: "an unknown version",
      response: patchOf({ op: "replace", path: "/apiVersion", value: "v2" }),
      want: 'Internal error occurred: no kind "ConfigMap" is registered for version "v2" in scheme "pkg/runtime/scheme.go:111"',
    },
    {
      name: "another namespace",
      response: patchOf({ op: "replace", path: "/metadata/namespace", value: "x" }),
      want: "the namespace of the provided object does not match the namespace sent on the request",
    },
    {
      name: "an invalid object",
      response: patchOf({ op: "add", path: "/metadata/labels", value: { "a/b/c": "" } }),
      want: expect.stringContaining('ConfigMap "c" is invalid: metadata.labels'),
    },
  ])("is refused for $name", async ({ response, want }) => {
    expect(messageOf((await mutated(response)).body)).toEqual(want);
  });

  test("may break the protocol under failurePolicy Ignore, but a patch that cannot be applied is an error", async () => {
    expect((await mutated(encoded("{}"), { failurePolicy: "Ignore" })).status).toBe(201);
    world.responses.set("m", () => patchOf({ op: "remove", path: "/data/x" }));
    expect((await create("d")).status).toBe(500);
  });

  test.each([encoded("[]"), encoded("null")])("may return an empty patch", async (response) => {
    expect((await mutated(response)).body).toMatchObject({ data: { a: "1" } });
  });

  test("cannot change a deleted object", async () => {
    await create("c");
    world.responses.set("m", () => patchOf({ op: "add", path: "/data", value: {} }));
    await world.configure("Mutating", "a", [world.hook("m")]);
    expect(messageOf((await world.ask("DELETE", `${CONFIG_MAPS}/c`)).body)).toBe(
      'Internal error occurred: admission webhook "m.lattice.test" attempted to modify the object, which is not supported for this operation',
    );
  });

  test("cannot break managedFields: the previous ones are restored", async () => {
    const broken = await mutated(patchOf({ op: "replace", path: "/metadata/managedFields/0/operation", value: "Odd" }));
    expect(broken.body).toMatchObject({ metadata: { managedFields: [{ operation: "Update" }] } });
    expect(broken.response.warnings).toEqual([
      expect.stringMatching(/invalid state after admission.*operation must be `Apply` or `Update`$/),
    ]);
  });

  test("cannot create an object with a deletionTimestamp, by POST or by apply", async () => {
    const metadata = ["deletionTimestamp", "deletionGracePeriodSeconds", "uid", "selfLink"];
    const values = ["2001-01-01T00:00:00Z", 5, "chosen", "/x"];
    const chosen = patchOf(...metadata.map((name, at) => ({ op: "add", path: `/metadata/${name}`, value: values[at] ?? "" })));
    const rules = [{ apiGroups: [""], apiVersions: ["v1"], operations: ["CREATE"], resources: ["configmaps"] }];
    const posted = await mutated(chosen, { rules });
    const body = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "d" } };
    const applied = await world.ask("PATCH", `${CONFIG_MAPS}/d?fieldManager=m`, { body, type: "application/apply-patch+yaml" });
    for (const { status, body: made } of [posted, applied]) {
      expect(status).toBe(201);
      const names = Object.keys((made as { metadata: JsonObject }).metadata);
      expect(names.filter((name) => metadata.includes(name))).toEqual(["uid"]);
      expect(JSON.stringify(made)).not.toContain("chosen");
    }
    expect((await world.ask("DELETE", `${CONFIG_MAPS}/c`)).status).toBe(200);
    expect((await world.ask("GET", `${CONFIG_MAPS}/c`)).status).toBe(404);
  });

  test("cannot rename an object that is named in the URL", async () => {
    world.responses.set("m", () => patchOf({ op: "replace", path: "/metadata/name", value: "other" }));
    await world.configure("Mutating", "a", [world.hook("m")]);
    const body = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "d" } };
    const applied = await world.ask("PATCH", `${CONFIG_MAPS}/d?fieldManager=m`, { body, type: "application/apply-patch+yaml" });
    expect(messageOf(applied.body)).toBe("the name of the object (other) does not match the name on the URL (d)");
    expect((await world.ask("GET", `${CONFIG_MAPS}/other`)).status).toBe(404);
  });

  test("that adds a duplicate owner causes a warning", async () => {
    const owner = { apiVersion: "v1", kind: "ConfigMap", name: "o", uid: "u" };
    const given = await mutated(patchOf({ op: "add", path: "/metadata/ownerReferences", value: [owner, owner] }));
    expect(given.response.warnings).toEqual([expect.stringContaining("contains duplicate entries after mutating admission happens")]);
  });

  test("is called again after a later change, if its reinvocationPolicy allows it", async () => {
    world.responses.set("first", ({ object }) =>
      patchOf({ op: "add", path: "/data/first", value: `${(object as { data: { first?: string } }).data.first ?? ""}x` }),
    );
    world.responses.set("last", () => patchOf({ op: "add", path: "/data/last", value: "y" }));
    await world.configure("Mutating", "a", [world.hook("first", { reinvocationPolicy: "IfNeeded" }), world.hook("once")]);
    await world.configure("Mutating", "b", [world.hook("last")]);
    expect((await create("c")).body).toMatchObject({ data: { first: "xx", last: "y" } });
    expect(world.called()).toEqual(["first", "once", "last", "first"]);
  });

  test("for a scale changes the replicas", async () => {
    const spec = {
      replicas: 1,
      selector: { matchLabels: { a: "b" } },
      template: { metadata: { labels: { a: "b" } }, spec: { containers: [{ name: "c", image: "i" }] } },
    };
    const url = "/apis/apps/v1/namespaces/default/deployments";
    await world.ask("POST", url, { body: { metadata: { name: "d" }, spec } });
    world.responses.set("m", () => patchOf({ op: "replace", path: "/spec/replicas", value: 7 }));
    const rules = [{ apiGroups: ["apps"], apiVersions: ["v1"], operations: ["UPDATE"], resources: ["deployments/scale"] }];
    await world.configure("Mutating", "a", [world.hook("m", { rules })]);
    const scaled = await world.ask("PATCH", `${url}/d/scale`, { type: "application/merge-patch+json", body: { spec: { replicas: 3 } } });
    expect(scaled.body).toMatchObject({ kind: "Scale", spec: { replicas: 7 } });
  });
});

describe("a response is refused when it", () => {
  const review = (more: JsonObject, response: JsonObject = {}) => ({
    body: { apiVersion: "admission.k8s.io/v1", kind: "AdmissionReview", response, ...more },
  });
  test.each([
    { name: "has another uid", reply: review({}, { uid: "x", allowed: true }), want: /expected response\.uid="[0-9a-f-]{36}", got "x"$/ },
    { name: "has no review response", reply: { body: "{}" }, want: /received invalid webhook response: webhook response was absent$/ },
    {
      name: "is text",
      reply: { body: "hello" },
      want: /couldn't get version\/kind; json parse error: json: cannot unmarshal string into Go value of type struct/,
    },
    { name: "is malformed JSON", reply: { body: '{"a":' }, want: /json parse error: unexpected end of JSON input$/ },
    { name: "is of another kind", reply: review({ kind: "Foo" }), want: /no kind "Foo" is registered for version "admission.k8s.io\/v1"/ },
    {
      name: "is of another version",
      reply: review({ apiVersion: "admission.k8s.io/v1beta1" }),
      want: /converting \(v1beta1.AdmissionReview\) to \(v1.AdmissionReview\): unknown conversion$/,
    },
    { name: "is a Status", reply: { body: { apiVersion: "v1", kind: "Status" } }, want: /converting \(v1.Status\) to/ },
    {
      name: "has a number for a version",
      reply: review({ apiVersion: 5 }),
      want: /cannot unmarshal number into Go struct field .apiVersion of type string$/,
    },
    {
      name: "has a wrong type inside",
      reply: review({}, { uid: "x", allowed: "yes" }),
      want: /cannot unmarshal string into Go struct field AdmissionResponse.response.allowed of type bool$/,
    },
  ])("$name", async ({ reply, want }) => {
    world.responses.set("v", () => reply);
    await world.configure("Validating", "a", [world.hook("v")]);
    expect(messageOf((await create("c")).body)).toMatch(want);
  });

  test("has no apiVersion and kind", async () => {
    world.responses.set("v", ({ uid }) => ({ body: { response: { uid, allowed: true } } }));
    await world.configure("Validating", "a", [world.hook("v")]);
    expect(messageOf((await create("c")).body)).toMatch(
      /expected webhook response of admission.k8s.io\/v1, Kind=AdmissionReview, got \/, Kind=$/,
    );
  });

  test.each([
    { response: { patchType: "JSONPatch", patch: "W10=" }, want: /validating webhook may not return response.patch$/ },
    { response: { patchType: "JSONPatch" }, want: /validating webhook may not return response.patchType$/ },
  ])("has a patch, and the hook is a validating one", async ({ response, want }) => {
    world.responses.set("v", () => response);
    await world.configure("Validating", "a", [world.hook("v")]);
    expect(messageOf((await create("c")).body)).toMatch(want);
  });
});

test("a response in YAML is accepted", async () => {
  world.responses.set("v", ({ uid }) => ({
    body: `apiVersion: admission.k8s.io/v1\nkind: AdmissionReview\nresponse: {uid: ${uid}, allowed: true}\n`,
  }));
  await world.configure("Validating", "a", [world.hook("v")]);
  expect((await create("c")).status).toBe(201);
});
