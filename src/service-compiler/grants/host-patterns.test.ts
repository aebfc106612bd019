import { describe, expect, test } from "vitest";
import { comparablePath, hostsOverlap, mayClaimHost, pathsOverlap } from "./host-patterns.ts";

describe("a host may be claimed", () => {
  const granted = { ingressDomain: "apps.test", hosts: ["shop.test", "*.team.test"] };
  const rows: readonly { name: string; host: string; want: boolean }[] = [
    { name: "below the ingress domain", host: "a.b.apps.test", want: true },
    { name: "not the ingress domain itself", host: "apps.test", want: false },
    { name: "not a name that only ends like the domain", host: "evil-apps.test", want: false },
    { name: "not the domain behind a dot alone", host: ".apps.test", want: false },
    { name: "that is listed", host: "shop.test", want: true },
    { name: "not below one that is listed", host: "www.shop.test", want: false },
    { name: "below a listed wildcard", host: "x.y.team.test", want: true },
    { name: "not the domain of a listed wildcard", host: "team.test", want: false },
    { name: "a wildcard that is listed as it is", host: "*.team.test", want: true },
    { name: "not a wildcard below a listed one", host: "*.x.team.test", want: false },
    { name: "not a wildcard below the ingress domain", host: "*.apps.test", want: false },
  ];
  test.each(rows)("$name: $host", ({ host, want }) => expect(mayClaimHost(host, granted)).toBe(want));

  test("only from the list when there is no ingress domain", () => {
    expect(mayClaimHost("a.test", { ingressDomain: undefined, hosts: [] })).toBe(false);
    expect(mayClaimHost("a.test", { ingressDomain: undefined, hosts: ["a.test"] })).toBe(true);
  });
});

test.each([
  ["a.test", "a.test", true],
  ["a.test", "b.test", false],
  ["*.test", "a.test", true],
  ["*.test", "a.b.test", true],
  ["*.test", "test", false],
  ["*.test", "*.b.test", true],
  ["*.b.test", "a.test", false],
])("hosts %s and %s overlap: %s", (one, other, want) => {
  expect(hostsOverlap(one, other)).toBe(want);
  expect(hostsOverlap(other, one)).toBe(want);
});

test.each([
  ["/", "/login", true],
  ["/login", "/login/", true],
  ["/login", "/login/x", true],
  ["/login", "/loginx", false],
  ["/a", "/b", false],
  ["/login", "/%6Cogin/x", true],
  ["/a%2fb", "/a/b", false],
  ["/a%2fb", "/a%2Fb", true],
])("prefixes %s and %s overlap: %s", (one, other, want) => {
  expect(pathsOverlap(comparablePath(one), comparablePath(other))).toBe(want);
  expect(pathsOverlap(comparablePath(other), comparablePath(one))).toBe(want);
});
