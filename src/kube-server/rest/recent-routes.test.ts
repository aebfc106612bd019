import { describe, expect, it } from "vitest";
import { expectOk } from "#base";
import { RecentRoutes, type Route } from "./recent-routes.ts";
import type { ApiRequest } from "../protocol/request.ts";
import { requestInfoOf, type ResourceRequest } from "../protocol/request-info.ts";
import type { RequestTarget } from "../protocol/route.ts";
import { configMaps as type } from "./types.test-support.ts";
import { TypeRegistry } from "../protocol/type-registry.ts";

const info = expectOk(requestInfoOf({ method: "GET", path: "/api/v1/namespaces/a/configmaps/x", query: new URLSearchParams() }));
const route = (name: string, verb: RequestTarget["verb"] = "get"): Route => ({
  info: info as ResourceRequest,
  target: { type, namespace: "a", name, subresource: undefined, rest: [], verb },
});
const asked = (path: string, method = "GET"): ApiRequest => ({
  method,
  path,
  query: new URLSearchParams(),
  headers: {},
  user: { name: "u", uid: "", groups: [] },
});

describe("recent routes", () => {
  it("are found by path and method", () => {
    const routes = new RecentRoutes(new TypeRegistry([type]));
    const there = route("x");
    routes.add(asked("/a/x"), there);
    expect(routes.find(asked("/a/x"))).toBe(there);
    expect(routes.find(asked("/a/x", "PUT"))).toBeUndefined();
    expect(routes.find(asked("/a/y"))).toBeUndefined();
  });

  it("contain no list, no watch, and no very long path", () => {
    const routes = new RecentRoutes(new TypeRegistry([type]));
    for (const verb of ["list", "watch"] as const) routes.add(asked("/a"), route("x", verb));
    const long = `/${"x".repeat(500)}`;
    routes.add(asked(long), route("x"));
    expect([routes.find(asked("/a")), routes.find(asked(long))]).toEqual([undefined, undefined]);
  });

  it("are cleared when the kinds change", () => {
    const types = new TypeRegistry([type]);
    const routes = new RecentRoutes(types);
    routes.add(asked("/a/x"), route("x"));
    types.setCustom("example.com", "widgets", []);
    expect(routes.find(asked("/a/x"))).toBeUndefined();
  });

  it("are limited in number", () => {
    const routes = new RecentRoutes(new TypeRegistry([type]));
    for (let at = 0; at <= 4_096; at += 1) routes.add(asked(`/a/${at}`), route(String(at)));
    expect([routes.find(asked("/a/0")), routes.find(asked("/a/4096"))?.target.name]).toEqual([undefined, "4096"]);
  });
});
