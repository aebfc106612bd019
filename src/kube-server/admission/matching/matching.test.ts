/** Which requests a rule matches. */
import { describe, expect, it } from "vitest";
import { ok } from "#base";
import type { Json, KubeObject } from "#kube";
import { realServer } from "../../rest/server.test-support.ts";
import type { Attributes } from "../../protocol/admission-port.ts";
import { inVersionOf, matchRules, readRules, readSelector, selectsNamespace, selectsObject } from "./index.ts";

const { server } = realServer();
const { types, store } = server;

function attributesOf(path: string, more: Partial<Attributes> = {}): Attributes {
  const [group = "", version = "", plural = ""] = path.split("/");
  const type = types.find(group, version, plural);
  if (type === undefined) throw new Error(`there is no ${path}`);
  return {
    operation: "CREATE",
    type,
    kind: type.resource,
    subresource: undefined,
    namespace: type.resource.namespaced ? "default" : undefined,
    name: "x",
    user: { name: "u", uid: "", groups: [] },
    dryRun: false,
    options: () => ({}),
    object: undefined,
    old: undefined,
    warn: () => {},
    ...more,
  };
}

const rule = (more: object = {}): Json => ({ operations: ["*"], apiGroups: ["*"], apiVersions: ["*"], resources: ["*"], ...more });
const object = (labels: Readonly<Record<string, string>>): KubeObject => ({ apiVersion: "v1", kind: "X", metadata: { name: "x", labels } });

describe("a rule", () => {
  it.each([
    { name: "everything", given: {}, on: attributesOf("/v1/pods"), want: true },
    { name: "no subresource with the resource *", given: {}, on: attributesOf("/v1/pods", { subresource: "status" }), want: false },
    {
      name: "a subresource by its name",
      given: { resources: ["pods/status"] },
      on: attributesOf("/v1/pods", { subresource: "status" }),
      want: true,
    },
    { name: "all subresources", given: { resources: ["pods/*"] }, on: attributesOf("/v1/pods", { subresource: "exec" }), want: true },
    {
      name: "one subresource of every resource",
      given: { resources: ["*/scale"] },
      on: attributesOf("apps/v1/deployments", { subresource: "scale" }),
      want: true,
    },
    { name: "only its operations", given: { operations: ["UPDATE"] }, on: attributesOf("/v1/pods"), want: false },
    { name: "only its groups", given: { apiGroups: [""] }, on: attributesOf("apps/v1/deployments"), want: false },
    { name: "only its resources", given: { resources: ["services"] }, on: attributesOf("/v1/pods"), want: false },
    { name: "namespaced objects", given: { scope: "Namespaced" }, on: attributesOf("/v1/pods"), want: true },
    { name: "not a Namespace as a namespaced object", given: { scope: "Namespaced" }, on: attributesOf("/v1/namespaces"), want: false },
    { name: "cluster-scoped objects", given: { scope: "Cluster" }, on: attributesOf("/v1/namespaces"), want: true },
    { name: "only its names", given: { resourceNames: ["y"] }, on: attributesOf("/v1/pods"), want: false },
  ])("matches $name: $want", ({ given, on, want }) => {
    expect(matchRules(readRules([rule(given)]), on, { types, policy: "Equivalent" }) !== undefined).toBe(want);
  });

  const hpa = readRules([rule({ apiGroups: ["autoscaling"], apiVersions: ["v1"], resources: ["horizontalpodautoscalers"] })]);
  it("for one version matches requests to another only under the match policy Equivalent", () => {
    const asked = attributesOf("autoscaling/v2/horizontalpodautoscalers");
    expect(matchRules(hpa, asked, { types, policy: "Exact" })).toBeUndefined();
    expect(matchRules(hpa, asked, { types, policy: "Equivalent" })).toMatchObject({ resource: { version: "v1" }, kind: { version: "v1" } });
    expect(matchRules(hpa, attributesOf("autoscaling/v1/horizontalpodautoscalers"), { types, policy: "Exact" })).toBeDefined();
  });

  it("does not change the kind of a subresource", () => {
    const kind = { group: "autoscaling", version: "v1", kind: "Scale" };
    const asked = attributesOf("apps/v1/deployments", { subresource: "scale", kind });
    const matched = matchRules(readRules([rule({ resources: ["*/scale"] })]), asked, { types, policy: "Equivalent" });
    expect(matched?.kind).toBe(kind);
    expect(matched?.resource.plural).toBe("deployments");
  });

  it("that is malformed matches nothing", () => {
    expect(readRules("nonsense")).toEqual([]);
    expect(matchRules([], attributesOf("/v1/pods"), { types, policy: "Equivalent" })).toBeUndefined();
  });
});

describe("selectors", () => {
  const selector = readSelector({ matchLabels: { a: "b" } });

  it("select an object by its old or its new labels", () => {
    expect(selectsObject(selector, attributesOf("/v1/pods", { object: object({}), old: object({ a: "b" }) }))).toBe(true);
    expect(selectsObject(selector, attributesOf("/v1/pods", { object: object({ a: "c" }) }))).toBe(false);
    expect(selectsObject(readSelector(undefined), attributesOf("/v1/pods"))).toBe(true);
  });

  it("select by the labels of the namespace", () => {
    const own = readSelector({ matchLabels: { "kubernetes.io/metadata.name": "default" } });
    expect(selectsNamespace(own, attributesOf("/v1/pods"), { store, types })).toEqual(ok(true));
    expect(selectsNamespace(selector, attributesOf("/v1/pods"), { store, types })).toEqual(ok(false));
    expect(selectsNamespace(selector, attributesOf("/v1/nodes"), { store, types })).toEqual(ok(true));
    expect(selectsNamespace(selector, attributesOf("/v1/pods", { namespace: "nope" }), { store, types })).toMatchObject({
      error: { code: 404, message: 'namespaces "nope" not found' },
    });
  });

  it("select a Namespace by its own new labels", () => {
    const made = attributesOf("/v1/namespaces", { object: object({ a: "b" }) });
    expect(selectsNamespace(selector, made, { store, types })).toEqual(ok(true));
    const gone = attributesOf("/v1/namespaces", { operation: "DELETE", name: "default" });
    expect(selectsNamespace(selector, gone, { store, types })).toEqual(ok(false));
  });
});

describe("inVersionOf", () => {
  it("converts an object to another version of its kind, and leaves a Scale unchanged", () => {
    const from = types.find("autoscaling", "v2", "horizontalpodautoscalers");
    const to = types.find("autoscaling", "v1", "horizontalpodautoscalers");
    if (from === undefined || to === undefined) throw new Error("there are autoscalers");
    const given: KubeObject = { apiVersion: "autoscaling/v2", kind: "HorizontalPodAutoscaler", metadata: { name: "h" } };
    expect(inVersionOf(given, from, to).apiVersion).toBe("autoscaling/v1");
    expect(inVersionOf(given, from, from)).toBe(given);
    expect(inVersionOf(object({}), from, to)).toEqual(object({}));
  });
});
