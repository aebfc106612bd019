import fc from "fast-check";
import { expect, test } from "vitest";
import type { Access } from "../../protocol/auth-port.ts";
import { compacted, readRules, ruleAllows, ruleObject, ruleText, uncovered, type AccessRule } from "./rules.ts";

const rule = (given: Partial<AccessRule>): AccessRule => ({
  verbs: [],
  apiGroups: [],
  resources: [],
  resourceNames: [],
  nonResourceURLs: [],
  ...given,
});
const pods = (more: Partial<AccessRule> = {}) => rule({ verbs: ["get"], apiGroups: [""], resources: ["pods"], ...more });
const to = (more: Partial<Extract<Access, { kind: "resource" }>> = {}): Access => ({
  kind: "resource",
  verb: "get",
  group: "",
  version: "v1",
  resource: "pods",
  subresource: undefined,
  namespace: undefined,
  name: "",
  ...more,
});
const path = (at: string): Access => ({ kind: "path", verb: "get", path: at });

test.each([
  { name: "the same verb, group and resource", rule: pods(), access: to(), want: true },
  { name: "another verb", rule: pods(), access: to({ verb: "list" }), want: false },
  { name: "every verb", rule: pods({ verbs: ["*"] }), access: to({ verb: "whatever" }), want: true },
  { name: "another group", rule: pods(), access: to({ group: "apps" }), want: false },
  { name: "every group", rule: pods({ apiGroups: ["*"] }), access: to({ group: "apps" }), want: true },
  { name: "a subresource of it", rule: pods(), access: to({ subresource: "log" }), want: false },
  { name: "the same subresource", rule: pods({ resources: ["pods/log"] }), access: to({ subresource: "log" }), want: true },
  { name: "the subresource of any resource", rule: pods({ resources: ["*/log"] }), access: to({ subresource: "log" }), want: true },
  { name: "another subresource of any resource", rule: pods({ resources: ["*/log"] }), access: to({ subresource: "exec" }), want: false },
  { name: "a subresource of any resource, for the resource itself", rule: pods({ resources: ["*/log"] }), access: to(), want: false },
  { name: "every resource", rule: pods({ resources: ["*"] }), access: to({ subresource: "log" }), want: true },
  { name: "the named object", rule: pods({ resourceNames: ["a"] }), access: to({ name: "a" }), want: true },
  { name: "another object", rule: pods({ resourceNames: ["a"] }), access: to({ name: "b" }), want: false },
  { name: "no name, where the rule has one", rule: pods({ resourceNames: ["a"] }), access: to(), want: false },
  { name: "a path, for a resource", rule: rule({ verbs: ["get"], nonResourceURLs: ["*"] }), access: to(), want: false },
  { name: "a resource, for a path", rule: pods(), access: path("/api"), want: false },
  { name: "that path", rule: rule({ verbs: ["get"], nonResourceURLs: ["/a"] }), access: path("/a"), want: true },
  { name: "below that path", rule: rule({ verbs: ["get"], nonResourceURLs: ["/a"] }), access: path("/a/b"), want: false },
  { name: "below a path with a star", rule: rule({ verbs: ["get"], nonResourceURLs: ["/a/*"] }), access: path("/a/b/c"), want: true },
  { name: "a path with a star, itself", rule: rule({ verbs: ["get"], nonResourceURLs: ["/a/*"] }), access: path("/a"), want: false },
  { name: "every path", rule: rule({ verbs: ["get"], nonResourceURLs: ["*"] }), access: path("/x"), want: true },
])("a rule for $name: $want", ({ rule: given, access, want }) => {
  expect(ruleAllows(given, access)).toBe(want);
});

test.each([
  { name: "more verbs than are held", held: [pods()], wanted: [pods({ verbs: ["get", "list"] })], want: [pods({ verbs: ["list"] })] },
  { name: "one name, holding all", held: [pods()], wanted: [pods({ resourceNames: ["a"] })], want: [] },
  { name: "all, holding a name", held: [pods({ resourceNames: ["a"] })], wanted: [pods()], want: [pods()] },
  {
    name: "another name",
    held: [pods({ resourceNames: ["a"] })],
    wanted: [pods({ resourceNames: ["b"] })],
    want: [pods({ resourceNames: ["b"] })],
  },
  {
    name: "a subresource, holding that of any resource",
    held: [pods({ resources: ["*/log"] })],
    wanted: [pods({ resources: ["pods/log"] })],
    want: [],
  },
  { name: "a star that is not held", held: [pods()], wanted: [pods({ resources: ["*"] })], want: [pods({ resources: ["*"] })] },
  {
    name: "a path below one that is held",
    held: [rule({ verbs: ["*"], nonResourceURLs: ["/a/*"] })],
    wanted: [rule({ verbs: ["get"], nonResourceURLs: ["/a/b", "/c"] })],
    want: [rule({ verbs: ["get"], nonResourceURLs: ["/c"] })],
  },
])("what is missing for $name", ({ held, wanted, want }) => {
  expect(uncovered(held, wanted)).toEqual(want);
});

const words = (...all: readonly string[]) => fc.subarray([...all], { minLength: 1 });
const anyRule = fc.record({
  verbs: words("get", "list", "*"),
  apiGroups: words("", "apps", "*"),
  resources: words("pods", "pods/log", "*/log", "*"),
  resourceNames: fc.subarray(["a", "b"]),
  nonResourceURLs: fc.constant<readonly string[]>([]),
});
const anyAccess = fc
  .record({
    verb: fc.constantFrom("get", "list", "watch"),
    group: fc.constantFrom("", "apps"),
    resource: fc.constantFrom("pods", "nodes"),
    subresource: fc.constantFrom(undefined, "log"),
    name: fc.constantFrom("a", "b", "c"),
  })
  .map((given) => to(given));

test("a user who covers a rule is allowed everything that the rule allows", () => {
  fc.assert(
    fc.property(fc.array(anyRule, { maxLength: 3 }), anyRule, anyAccess, (held, wanted, access) => {
      if (uncovered(held, [wanted]).length > 0 || !ruleAllows(wanted, access)) return;
      expect(held.some((one) => ruleAllows(one, access))).toBe(true);
    }),
  );
});

test("every rule covers itself", () => {
  fc.assert(
    fc.property(anyRule, (one) => {
      expect(uncovered([one], [one])).toEqual([]);
    }),
  );
});

test("missing rules are reported with the verbs of one resource joined, and paths separately", () => {
  const missing = uncovered(
    [],
    [pods({ verbs: ["get", "list"], resourceNames: ["a"] }), rule({ verbs: ["get"], nonResourceURLs: ["/a", "/b"] })],
  );
  expect(compacted([...missing, ...missing.slice(-1)]).map(ruleText)).toEqual([
    '{APIGroups:[""], Resources:["pods"], ResourceNames:["a"], Verbs:["get" "list"]}',
    '{NonResourceURLs:["/a"], Verbs:["get"]}',
    '{NonResourceURLs:["/b"], Verbs:["get"]}',
  ]);
});

test("a rule is parsed from any content of a Role, and written without empty lists", () => {
  expect(readRules("nonsense")).toEqual([]);
  expect(readRules([{ verbs: ["get", 5], resources: "x" }])).toEqual([rule({ verbs: ["get"] })]);
  expect(ruleObject(pods())).toEqual({ verbs: ["get"], apiGroups: [""], resources: ["pods"] });
});
