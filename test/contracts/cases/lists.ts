/** Lists: selectors, pages, versions. */
import { expect } from "vitest";
import type { Api } from "../client/api.ts";
import type { ApiResponse } from "../client/api-response.ts";
import { area } from "../contract.ts";
import { configMap, pod, service } from "./objects.ts";

const names = (answer: ApiResponse) =>
  ((answer.gives(200).at("items") ?? []) as readonly { metadata: { name: string } }[]).map(({ metadata }) => metadata.name);
const labelled = async (api: Api, labels: Readonly<Record<string, Readonly<Record<string, string>>>>) => {
  for (const [name, of] of Object.entries(labels)) await api.created("secrets", { metadata: { name, labels: of } });
};
const select = (selector: string) => `secrets?labelSelector=${encodeURIComponent(selector)}`;
const where = (resource: string, selector: string) => `${resource}?fieldSelector=${encodeURIComponent(selector)}`;

export const lists = area("lists and selectors", {
  "items are sorted by name and have no kind": async (api) => {
    for (const name of ["b", "a", "a-b", "a.b", "ab"]) await api.created("secrets", { metadata: { name } });
    const list = await api.get("secrets");
    expect(names(list)).toEqual(["a", "a-b", "a.b", "ab", "b"]);
    list.gives(200, { kind: "SecretList", apiVersion: "v1" }).has("items.0.kind", undefined).has("items.0.apiVersion", undefined);
  },

  "label selectors support equality, sets, presence and absence": async (api) => {
    await labelled(api, { a: { tier: "web", env: "prod" }, b: { tier: "db", env: "prod" }, c: { tier: "web" }, d: {} });
    const rows: readonly (readonly [string, readonly string[]])[] = [
      ["tier=web", ["a", "c"]],
      ["tier==web,env=prod", ["a"]],
      ["tier!=web", ["b", "d"]],
      ["tier in (web, db)", ["a", "b", "c"]],
      ["tier notin (web)", ["b", "d"]],
      ["env", ["a", "b"]],
      ["!env", ["c", "d"]],
      ["tier=web,!env", ["c"]],
      ["tier=", []],
      ["", ["a", "b", "c", "d"]],
    ];
    for (const [selector, want] of rows) expect(names(await api.get(select(selector))), selector).toEqual(want);
  },

  "label selectors can compare numbers": async (api) => {
    await labelled(api, { a: { n: "5" }, b: { n: "50" }, c: { n: "x" } });
    expect(names(await api.get(select("n>9")))).toEqual(["b"]);
    expect(names(await api.get(select("n<9")))).toEqual(["a"]);
    (await api.get(select("n>many"))).gives(400, { reason: "BadRequest" });
  },

  "a malformed selector is rejected with the position": async (api) => {
    const rows: readonly (readonly [string, string])[] = [
      ["a in", "unable to parse requirement: found '' expected: '('"],
      ["a in (x", "unable to parse requirement: found '', expected: ',' or ')'"],
      ["=x", "found '=', expected: !, identifier, or 'end of string'"],
      ["a b", "unable to parse requirement: found 'b', expected: in, notin, =, ==, !=, gt, lt"],
      ["a=b c", "found 'c', expected: ',' or 'end of string'"],
      ["a=b,", "found '', expected: identifier after ','"],
    ];
    for (const [selector, message] of rows) (await api.get(select(selector))).refuses(400, "BadRequest", message);
  },

  "field selectors support name and namespace on every kind": async (api) => {
    await labelled(api, { a: {}, b: {} });
    expect(names(await api.get(where("secrets", "metadata.name=a")))).toEqual(["a"]);
    expect(names(await api.get(where("secrets", "metadata.name!=a")))).toEqual(["b"]);
    expect(names(await api.get(where("secrets", "metadata.name=a,metadata.name=b")))).toEqual([]);
    expect(names(await api.get(where("/api/v1/secrets", `metadata.namespace=${api.namespace}`)))).toEqual(["a", "b"]);
  },

  "field selectors support other fields only for some kinds": async (api) => {
    await api.created("secrets", { metadata: { name: "a" }, type: "example.test/own" });
    await api.created("secrets", { metadata: { name: "b" } });
    expect(names(await api.get(where("secrets", "type=Opaque")))).toEqual(["b"]);
    (await api.get(where("secrets", "data=x"))).refuses(400, "BadRequest", "field label not supported: data");
    (await api.get(where("configmaps", "data.x=1"))).gives(400, { reason: "BadRequest" });
    (await api.get(where("secrets", "metadata.name"))).refuses(
      400,
      "BadRequest",
      "invalid selector: 'metadata.name'; can't understand 'metadata.name'",
    );
  },

  "Pods can be selected by node, phase and restart policy": async (api) => {
    await api.created("pods", pod("a"));
    await api.created("pods", pod("b", { restartPolicy: "Never" }));
    expect(names(await api.get(where("pods", "spec.restartPolicy=Never")))).toEqual(["b"]);
    expect(names(await api.get(where("pods", "status.phase=Pending,spec.nodeName=")))).toEqual(["a", "b"]);
    expect(names(await api.get(where("pods", "spec.schedulerName!=default-scheduler")))).toEqual([]);
    expect(names(await api.get(where("pods", "spec.serviceAccountName=default")))).toEqual(["a", "b"]);
  },

  "Services can be selected by type and address": async (api) => {
    const clusterIP = (await api.created("services", service("a"))).textAt("spec.clusterIP");
    await api.created("services", service("b", { type: "NodePort" }));
    expect(names(await api.get(where("services", `spec.clusterIP=${clusterIP}`)))).toEqual(["a"]);
    expect(names(await api.get(where("services", "spec.type=NodePort")))).toEqual(["b"]);
  },

  "a page has a continue token and the number of remaining items": async (api) => {
    for (const name of ["a", "b", "c", "d", "e"]) await api.created("secrets", { metadata: { name } });
    const first = await api.get("secrets?limit=2");
    expect(names(first)).toEqual(["a", "b"]);
    first.has("metadata.remainingItemCount", 3);
    const second = await api.get(`secrets?limit=2&continue=${first.textAt("metadata.continue")}`);
    expect(names(second)).toEqual(["c", "d"]);
    const last = await api.get(`secrets?limit=2&continue=${second.textAt("metadata.continue")}`);
    expect(names(last)).toEqual(["e"]);
    last.has("metadata.continue", undefined).has("metadata.remainingItemCount", undefined);
    expect(last.textAt("metadata.resourceVersion")).toBe(first.textAt("metadata.resourceVersion"));
  },

  "the next page has the version of the first": async (api) => {
    for (const name of ["a", "b", "c"]) await api.created("secrets", { metadata: { name } });
    const first = await api.get("secrets?limit=1");
    await api.delete("secrets/b");
    await api.created("secrets", { metadata: { name: "bb" } });
    expect(names(await api.get(`secrets?limit=5&continue=${first.textAt("metadata.continue")}`))).toEqual(["b", "c"]);
  },

  "a page with a selector has no number of remaining items": async (api) => {
    await labelled(api, { a: { l: "1" }, b: { l: "1" }, c: { l: "1" } });
    const page = await api.get(`${select("l=1")}&limit=1`);
    expect(names(page)).toEqual(["a"]);
    page.has("metadata.remainingItemCount", undefined);
    expect(page.textAt("metadata.continue")).not.toBe("");
  },

  "a limit is ignored with resourceVersion 0": async (api) => {
    for (const name of ["a", "b", "c"]) await api.created("secrets", { metadata: { name } });
    expect((await api.get("secrets?limit=1&resourceVersion=0")).textAt("metadata.continue")).toBe("");
  },

  "a malformed continue token is a bad request": async (api) => {
    (await api.get("secrets?continue=nonsense")).refuses(
      400,
      "BadRequest",
      "invalid continue token: continue key is not valid: invalid character '\\u009e' looking for beginning of value",
    );
    (
      await api.get(`secrets?continue=${Buffer.from('{"v":"meta.k8s.io/v1","rv":1,"start":"x"}').toString("base64url")}&resourceVersion=1`)
    ).gives(400);
  },

  "resourceVersionMatch Exact needs a resourceVersion": async (api) => {
    (await api.get("secrets?resourceVersionMatch=Exact")).refuses(
      422,
      "Invalid",
      expect.stringContaining("resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden unless resourceVersion is provided"),
    );
    (await api.get("secrets?resourceVersion=0&resourceVersionMatch=Exact")).refuses(
      422,
      "Invalid",
      expect.stringContaining('resourceVersionMatch: Forbidden: resourceVersionMatch "exact" is forbidden for resourceVersion "0"'),
    );
    (await api.get("secrets?resourceVersion=1&resourceVersionMatch=Sometimes")).gives(422, { reason: "Invalid" });
  },

  "a list can be read at an earlier version": async (api) => {
    const a = await api.created("secrets", { metadata: { name: "a" } });
    const b = await api.created("secrets", { metadata: { name: "b" } });
    const then = a.textAt("metadata.resourceVersion");
    const list = await api.get(`secrets?resourceVersion=${then}&resourceVersionMatch=Exact`);
    expect(names(list)).toEqual(["a"]);
    list.has("metadata.resourceVersion", then);
    // a server may answer NotOlderThan with any version from the one that is asked for on: its watch cache may not have b yet
    const now = b.textAt("metadata.resourceVersion");
    expect(names(await api.get(`secrets?resourceVersion=${now}&resourceVersionMatch=NotOlderThan`))).toEqual(["a", "b"]);
  },

  "a list at a future version waits, and then fails as too large": async (api) => {
    (await api.get("secrets?resourceVersion=999999999999")).refuses(
      504,
      "Timeout",
      expect.stringMatching(/^Timeout: Too large resource version: 999999999999, current: \d+$/),
      {
        details: { retryAfterSeconds: 1, causes: [{ reason: "ResourceVersionTooLarge", message: "Too large resource version" }] },
      },
    );
  },

  "a malformed resourceVersion is a bad request for a list and a server error for an object": async (api) => {
    const what = 'resourceVersion: Invalid value: "new": strconv.ParseUint: parsing "new": invalid syntax';
    (await api.get("secrets?resourceVersion=new")).refuses(400, "BadRequest", `invalid resource version: ${what}`);
    await api.created("secrets", { metadata: { name: "a" } });
    (await api.get("secrets/a?resourceVersion=new")).refuses(500, undefined, what);
  },

  "the list of a missing namespace is empty": async (api) => {
    (await api.get(`/api/v1/namespaces/no-${api.id}/secrets`)).gives(200, { items: [] });
  },

  "an object can be read at any version or at least at a version": async (api) => {
    const made = await api.created("secrets", { metadata: { name: "a" } });
    (await api.get(`secrets/a?resourceVersion=${made.textAt("metadata.resourceVersion")}`)).gives(200);
    (await api.get("secrets/a?resourceVersion=0")).gives(200);
  },

  "deleting a collection deletes the objects that the selectors match": async (api) => {
    await labelled(api, { a: { l: "1" }, b: { l: "1" }, c: { l: "2" } });
    (await api.delete(select("l=1"))).gives(200, { kind: "SecretList", items: [{ metadata: { name: "a" } }, { metadata: { name: "b" } }] });
    expect(names(await api.get("secrets"))).toEqual(["c"]);
    (await api.delete(where("secrets", "metadata.name=c"))).gives(200);
    expect(names(await api.get("secrets"))).toEqual([]);
  },

  "lists of all namespaces are sorted by namespace, then name": async (api) => {
    await api.created("configmaps", configMap("z", {}, { labels: { mine: api.id } }));
    await api.created("configmaps", configMap("a", {}, { labels: { mine: api.id } }));
    expect(names(await api.get(`/api/v1/configmaps?labelSelector=mine%3D${api.id}`))).toEqual(["a", "z"]);
  },

  "an invalid limit is a bad request": async (api) => {
    (await api.get("secrets?limit=many")).gives(400, { reason: "BadRequest" });
    (await api.get("secrets?timeoutSeconds=long")).gives(400, { reason: "BadRequest" });
  },

  "unknown query parameters are ignored": async (api) => {
    await api.created("secrets", { metadata: { name: "a" } });
    expect(names(await api.get("secrets?colour=red&limit=0"))).toEqual(["a"]);
  },
});
