import { describe, expect, it } from "vitest";
import { findCondition, isConditionTrue, setCondition, setConditions } from "./conditions.ts";
import { describeObject, isBeingDeleted, keyOf, keyText, parseKey } from "./object.ts";
import { apiVersionOf, defineResource, groupResourceOf, pathOf } from "./resource.ts";
import { isStatus } from "./status.ts";

const pods = defineResource({ group: "", version: "v1", kind: "Pod", plural: "pods", namespaced: true });
const deployments = defineResource({ group: "apps", version: "v1", kind: "Deployment", plural: "deployments", namespaced: true });
const nodes = defineResource({ group: "", version: "v1", kind: "Node", plural: "nodes", namespaced: false });

describe("pathOf", () => {
  it.each([
    { name: "a collection over all namespaces", path: pathOf(pods), want: "/api/v1/pods" },
    {
      name: "a collection of one namespace",
      path: pathOf(deployments, { namespace: "prod" }),
      want: "/apis/apps/v1/namespaces/prod/deployments",
    },
    { name: "an object", path: pathOf(pods, { namespace: "a", name: "b" }), want: "/api/v1/namespaces/a/pods/b" },
    { name: "a subresource", path: pathOf(nodes, { name: "n", subresource: "status" }), want: "/api/v1/nodes/n/status" },
    {
      name: "a cluster-scoped object, ignoring the namespace",
      path: pathOf(nodes, { namespace: "a", name: "n" }),
      want: "/api/v1/nodes/n",
    },
    {
      name: "a hostile name, escaped in its path segment",
      path: pathOf(nodes, { name: "../../x?y" }),
      want: "/api/v1/nodes/..%2F..%2Fx%3Fy",
    },
  ])("$name", ({ path, want }) => {
    expect(path).toBe(want);
  });

  it("formats group resources as kubectl does", () => {
    expect([apiVersionOf(pods), apiVersionOf(deployments)]).toEqual(["v1", "apps/v1"]);
    expect([groupResourceOf(pods), groupResourceOf(deployments)]).toEqual(["pods", "deployments.apps"]);
  });
});

describe("keys", () => {
  it.each([{ text: "prod/api" }, { text: "mgmt" }])("$text is parsed and formatted unchanged", ({ text }) => {
    expect(keyText(parseKey(text))).toBe(text);
  });

  it("are read from an object", () => {
    const pod = { apiVersion: "v1", kind: "Pod", metadata: { name: "a", namespace: "b", deletionTimestamp: "2026-01-01T00:00:00Z" } };
    expect(keyOf(pod)).toEqual({ namespace: "b", name: "a" });
    expect(describeObject(pod)).toBe("Pod b/a");
    expect(isBeingDeleted(pod)).toBe(true);
  });
});

describe("conditions", () => {
  const ready = { type: "Ready", status: "True", reason: "Settled", message: "" } as const;

  it("change lastTransitionTime only when the status changes", () => {
    const first = setCondition([], ready, "t1");
    const same = setCondition(first, { ...ready, message: "new text" }, "t2");
    const changed = setCondition(same, { ...ready, status: "False" }, "t3");
    expect(same[0]).toMatchObject({ lastTransitionTime: "t1", message: "new text" });
    expect(changed[0]).toMatchObject({ lastTransitionTime: "t3" });
  });

  it("keep the order of the other conditions", () => {
    const all = setConditions([], [ready, { ...ready, type: "Healthy" }], "t1");
    expect(setCondition(all, { ...ready, status: "Unknown" }, "t2").map(({ type }) => type)).toEqual(["Ready", "Healthy"]);
    expect(isConditionTrue(all, "Healthy")).toBe(true);
    expect(isConditionTrue(undefined, "Ready")).toBe(false);
    expect(findCondition(all, "Nope")).toBeUndefined();
  });
});

describe("isStatus", () => {
  it("is true only for a Status", () => {
    expect(isStatus({ kind: "Status", status: "Failure" })).toBe(true);
    expect(isStatus({ kind: "Pod" })).toBe(false);
    expect(isStatus("Status")).toBe(false);
  });
});
