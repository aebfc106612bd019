import { describe, expect, it } from "vitest";
import { expectOk } from "#base";
import type { Json } from "#kube";
import { serviceYaml, worldOf } from "../../test/builders/world.ts";
import { checkAssertions, formatAssertions, parseAssertions, type Assertion } from "./assertions.ts";

const external =
  "apiVersion: lattice.dev/v1alpha1\nkind: LatticeExternalService\nmetadata: {name: bank, namespace: payments}\nspec: {endpoints: {default: 'https://bank.example'}, allowedRequesters: [ledger]}\n";

const world = worldOf(
  [
    serviceYaml("payments/ledger", { calls: ["dev/probe"], calledBy: ["shop/checkout"], spec: "    bank: {type: external-service}\n" }),
    serviceYaml("shop/checkout", { calls: ["payments/ledger"] }),
    serviceYaml("shop/web"),
    serviceYaml("dev/probe", { calledBy: ["payments/ledger"] }),
    "apiVersion: lattice.dev/v1alpha1\nkind: LatticeEnvironment\nmetadata: {name: dev}\nspec: {crossNamespace: [payments]}\n",
    serviceYaml("dev/thief", { spec: "  environment: dev\n  resources:\n    gold: {type: postgres, id: payments/gold}\n" }),
    serviceYaml("dev/broken", { spec: "  resources:\n    x: {type: nonsense}\n" }),
    serviceYaml("self/self", { spec: "  resources:\n    self: {direction: both}\n" }),
    serviceYaml("mute/mute").replace("  service: {ports: {http: {port: 8080}}}\n", ""),
    external,
  ],
  { placeholderSecrets: true },
);

const check = (assertion: Omit<Assertion, "expect"> & { expect?: "open" | "closed" }) => {
  const [result] = checkAssertions(world, [{ expect: "closed", ...assertion }]);
  return { holds: result?.holds, asked: result?.asked, because: result?.because };
};

describe("an assertion", () => {
  it.each([
    {
      name: "holds when every pair matches the expectation",
      given: { from: "shop/web", to: "payments/*" },
      want: { holds: true, asked: 2, because: [] },
    },
    {
      name: "lists each pair that contradicts it",
      given: { from: "shop/*", to: "payments/ledger" },
      want: { holds: false, asked: 2, because: ["shop/checkout -> payments/ledger:8080 is open"] },
    },
    {
      name: "may be limited to one port",
      given: { from: "shop/checkout", to: "payments/ledger:http", expect: "open" as const },
      want: { holds: true, asked: 1, because: [] },
    },
    {
      name: "may exclude callers",
      given: { from: "*/*", to: "payments/bank", except: ["payments/*", "dev/broken"] },
      want: { holds: true, asked: 6, because: [] },
    },
    {
      name: "applies to external services too",
      given: { from: "payments/*", to: "payments/bank:443" },
      want: { holds: false, asked: 1, because: ["payments/ledger -> payments/bank (bank.example:443) is open"] },
    },
    {
      name: "finds external destinations that a caller may reach without an agreement",
      given: { from: "dev/thief", to: "payments/*" },
      want: { holds: false, asked: 3, because: ["dev/thief -> payments/gold-postgres:5432 (not a Lattice service) is open"] },
    },
    {
      name: "does not hold for a service that is not compiled",
      given: { from: "dev/broken", to: "shop/web" },
      want: { holds: false, asked: 1, because: ["dev/broken -> shop/web:8080 is not known: one of the two is not compiled"] },
    },
    {
      name: "that matches no service does not hold",
      given: { from: "gone/*", to: "here/x" },
      want: { holds: false, asked: 0, because: ["gone/* matches no service", "here/x matches no service"] },
    },
    {
      name: "that matches no service holds where that is allowed",
      given: { from: "gone/*", to: "here/x", mayBeEmpty: true },
      want: { holds: true, asked: 0, because: [] },
    },
    {
      name: "about services without a port does not hold",
      given: { from: "shop/web", to: "mute/mute" },
      want: { holds: false, asked: 0, because: ["no matching service has a port to check"] },
    },
    {
      name: "excludes a service's calls to itself",
      given: { from: "self/*", to: "self/*" },
      want: { holds: false, asked: 0, because: ["no matching service has a port to check"] },
    },
    {
      name: "includes calls to itself when the pattern is the exact name",
      given: { from: "self/self", to: "self/self", expect: "open" as const },
      want: { holds: true, asked: 1, because: [] },
    },
    {
      name: "matches a dot literally",
      given: { from: "sh.p/*", to: "payments/*" },
      want: { holds: false, asked: 0, because: ["sh.p/* matches no service"] },
    },
  ])("$name", ({ given, want }) => {
    expect(check(given)).toEqual(want);
  });

  it("may be checked against the objects of a cluster", () => {
    const [result] = checkAssertions(world, [{ from: "shop/web", to: "payments/ledger", expect: "closed" }], []);
    expect(result).toMatchObject({
      holds: false,
      because: ["shop/web -> payments/ledger:8080 is not known: one of the two is not compiled"],
    });
  });
});

describe("a file of assertions", () => {
  it("is a list, or a map with a list under assertions", () => {
    const list = [{ name: "x", from: "dev/*", to: "payments/*:8080", expect: "closed", except: ["dev/a"], mayBeEmpty: true }];
    expect(expectOk(parseAssertions(list))).toEqual(list);
    expect(expectOk(parseAssertions({ assertions: list }))).toEqual(list);
  });

  it.each([
    { name: "is not a list", given: "text", want: ["it must be a list of {from, to, expect}, or a map with such a list under assertions"] },
    {
      name: "has mistakes, all reported at once",
      given: [1, { form: "a/b", to: "x", expect: "shut", name: 1, mayBeEmpty: 1, except: ["x"] }],
      want: [
        "assertion 1: must be a map with from, to and expect",
        'assertion 2: unknown field form; did you mean "from"?',
        "assertion 2: from must be namespace/name, where * stands for anything, such as dev/*",
        "assertion 2: to must be namespace/name, where * stands for anything, and may end with :port",
        "assertion 2: expect must be open or closed",
        "assertion 2: except must be a list of namespace/name",
        "assertion 2: name must be a text",
        "assertion 2: mayBeEmpty must be true or false",
      ],
    },
  ])("$name", ({ given, want }) => {
    expect(parseAssertions(given as Json)).toEqual({ ok: false, error: want });
  });

  it("is printed line by line, and long lists are cut", () => {
    const assertion: Assertion = { from: "a/*", to: "b/*", expect: "closed" };
    const because = Array.from({ length: 22 }, (_, at) => `pair ${at} is open`);
    const text = formatAssertions([
      { assertion: { ...assertion, name: "dev stays out" }, holds: true, asked: 4, because: [] },
      { assertion, holds: false, asked: 30, because },
    ]);
    expect(text).toMatch(/^ok {4}dev stays out {2}\(4 checked\)\nFAIL {2}a\/\* -> b\/\* is closed {2}\(30 checked\)\n {8}pair 0 is open\n/);
    expect(text).toContain("        and 2 more\n1 of 2 do not hold\n");
    expect(formatAssertions([])).toContain("0 hold");
  });
});
