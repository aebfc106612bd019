/** Discovery of the kinds that a server serves. */
import { describe, expect, test } from "vitest";
import { err, expectOk, ok } from "#base";
import { groupResourceOf } from "#kube";
import type { KubeErrorKind } from "#kube-client";
import { discover, kindKey } from "./discovery.ts";

const never = new AbortController().signal;
const verbs = ["delete", "list", "watch"];
const widgets = { name: "widgets", kind: "Widget", namespaced: true, verbs };

const SERVED: Record<string, unknown> = {
  "/api": { versions: ["v1"] },
  "/api/v1": {
    resources: [
      { name: "pods", kind: "Pod", namespaced: true, verbs },
      { name: "pods/status", kind: "Pod", namespaced: true, verbs: ["get"] },
    ],
  },
  "/apis": {
    groups: [
      { name: "example.org", versions: [{ version: "v1" }, { version: "v2" }], preferredVersion: { version: "v2" } },
      { name: "down.example.org", versions: [{ version: "v1" }], preferredVersion: { version: "v1" } },
    ],
  },
  "/apis/example.org/v1": {
    resources: [widgets, { ...widgets, name: "olds", kind: "Old", namespaced: false }, { name: 1 }, { name: "noverbs", kind: "NoVerbs" }],
  },
  "/apis/example.org/v2": { resources: [widgets, { ...widgets, name: "widgets/scale", kind: "Scale" }] },
};

function serverWith(changes: Record<string, unknown> = {}, failure: KubeErrorKind = "unavailable") {
  const served = new Map(Object.entries({ ...SERVED, ...changes }));
  return {
    raw: (path: string) =>
      Promise.resolve(served.has(path) ? ok(JSON.stringify(served.get(path))) : err({ kind: failure, message: `no ${path}` } as const)),
  };
}

test("each plural is returned once, in the preferred version that has it", async () => {
  const { preferred, byKind } = expectOk(await discover(serverWith(), never));
  expect(preferred.map((resource) => `${groupResourceOf(resource)}/${resource.version}`)).toEqual([
    "pods/v1",
    "widgets.example.org/v2",
    "olds.example.org/v1",
    "noverbs.example.org/v1",
  ]);
  expect(byKind.get(kindKey("example.org/v1", "Widget"))?.version).toBe("v1");
  expect(byKind.get(kindKey("example.org/v2", "Widget"))).toMatchObject({ scalable: true, namespaced: true });
  expect(byKind.get(kindKey("example.org/v3", "Widget"))).toBeUndefined();
});

describe("failures", () => {
  test("a group that is down fails alone", async () => {
    const { failures, preferred } = expectOk(await discover(serverWith(), never));
    expect([...failures]).toEqual([["down.example.org/v1", "stale GroupVersion discovery: down.example.org/v1"]]);
    expect(preferred).not.toEqual([]);
  });

  test("other errors are reported with the server's message", async () => {
    const { failures } = expectOk(await discover(serverWith({}, "forbidden"), never));
    expect([...failures.values()]).toEqual(["no /apis/down.example.org/v1"]);
  });

  test.each(["/api", "/apis"])("without %s discovery fails", async (path) => {
    const server = serverWith();
    const broken = {
      raw: (asked: string) => (asked === path ? Promise.resolve(err({ kind: "network", message: "gone" } as const)) : server.raw(asked)),
    };
    expect(await discover(broken, never)).toEqual(err({ kind: "network", message: "gone" }));
  });

  test("an invalid discovery document is rejected", async () => {
    expect(await discover({ raw: () => Promise.resolve(ok("[]")) }, never)).toMatchObject({ ok: false, error: { kind: "protocol" } });
    const odd = serverWith({ "/apis": { groups: [{ versions: [{ version: 1 }] }] } });
    expect(expectOk(await discover(odd, never)).preferred.map(({ plural }) => plural)).toEqual(["pods"]);
  });
});
