/** The cost of many claims; tenants.test.ts tests the decisions. */
import { expect, test } from "vitest";
import { RouteClaims, type RouteClaim } from "./route-claims.ts";

const claim = (key: string, host: string, path: string, made = ""): RouteClaim => ({ key, resource: path, host, path, since: "", made });

test("an unchanged claim affects no other service", () => {
  const claims = new RouteClaims();
  claims.claim("a/x", [claim("a/x", "h.test", "/")]);
  expect(claims.claim("b/y", [claim("b/y", "h.test", "/")])).toEqual(new Set(["a/x"]));
  expect(claims.claim("b/y", [claim("b/y", "h.test", "/")])).toEqual(new Set());
  expect(claims.holder("b/y", "/")).toBe("a/x");
  expect(claims.claim("a/x", [])).toEqual(new Set(["b/y"]));
  expect([claims.holder("b/y", "/"), claims.holder("a/x", "/"), claims.claimsOf("a/x")]).toEqual([undefined, undefined, []]);
});

test("with 10,000 claims on one host the holder is found without reading the younger claims", () => {
  const claims = new RouteClaims();
  claims.claim("a/x", [claim("a/x", "h.test", "/", "2026-01-01T00:00:00Z")]);
  for (let at = 0; at < 100; at += 1) {
    const key = `b/y${at}`;
    claims.claim(
      key,
      Array.from({ length: 100 }, (_, path) => claim(key, "h.test", `/${at}/${path}`, "2026-02-01T00:00:00Z")),
    );
  }
  expect(claims.holder("a/x", "/")).toBeUndefined();
  expect(claims.holder("b/y99", "/99/99")).toBe("a/x");
  expect(claims.claim("a/x", []).size).toBe(100);
  expect(claims.holder("b/y99", "/99/99")).toBeUndefined();
});
