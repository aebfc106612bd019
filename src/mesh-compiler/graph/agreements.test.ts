/** Which services may call which: an edge is open when both sides declare it. */
import { describe, expect, test } from "vitest";
import { ADMIN, allows, calls, external, HTTP, meshOf, service } from "../objects.test-support.ts";
import { agreement, incoming, outgoing } from "./agreements.ts";
import { edgesOf } from "./edges.ts";
import type { ServiceNode } from "./node.ts";

const ports = [ADMIN, HTTP];
const both = { direction: "both" as const };

/** Ports on which the first may call the second. */
function agreed(caller: ServiceNode, callee: ServiceNode): readonly string[] {
  return (agreement(caller, callee)?.ports ?? []).map(({ name }) => name);
}

describe("an agreement", () => {
  type Row = { name: string; caller: Parameters<typeof service>[1]; callee: Parameters<typeof service>[1]; want: readonly string[] };
  const rows: readonly Row[] = [
    { name: "needs both sides", caller: [calls("p/b")], callee: [allows("p/a")], want: ["admin", "http"] },
    { name: "is none with the caller alone", caller: [calls("p/b")], callee: [], want: [] },
    { name: "is none with the callee alone", caller: [], callee: [allows("p/a")], want: [] },
    { name: "is none when both want to call", caller: [calls("p/b")], callee: [calls("p/a")], want: [] },
    { name: "is none when both want to be called", caller: [allows("p/b")], callee: [allows("p/a")], want: [] },
    { name: "both counts as either", caller: [calls("p/b", both)], callee: [allows("p/a", both)], want: ["admin", "http"] },
    {
      name: "two declarations are as good as both",
      caller: [calls("p/b"), allows("p/b")],
      callee: [allows("p/a")],
      want: ["admin", "http"],
    },
    {
      name: "the caller may want fewer ports, by name",
      caller: [calls("p/b", { ports: ["http"] })],
      callee: [allows("p/a")],
      want: ["http"],
    },
    { name: "or by number", caller: [calls("p/b", { ports: [9000] })], callee: [allows("p/a")], want: ["admin"] },
    { name: "the callee may offer fewer", caller: [calls("p/b")], callee: [allows("p/a", { ports: ["http"] })], want: ["http"] },
    {
      name: "what both mean is left",
      caller: [calls("p/b", { ports: ["http", "admin"] })],
      callee: [allows("p/a", { ports: [9000] })],
      want: ["admin"],
    },
    { name: "nothing may be left", caller: [calls("p/b", { ports: ["http"] })], callee: [allows("p/a", { ports: ["admin"] })], want: [] },
    { name: "a number is the Service's, not the pod's", caller: [calls("p/b", { ports: [8080] })], callee: [allows("p/a")], want: [] },
    { name: "no ports at all open nothing", caller: [calls("p/b", { ports: [] })], callee: [allows("p/a")], want: [] },
    {
      name: "several declarations add up",
      caller: [calls("p/b", { ports: ["http"] }), calls("p/b", { ports: [9000] })],
      callee: [allows("p/a")],
      want: ["admin", "http"],
    },
    { name: "the same name elsewhere is another service", caller: [calls("q/b")], callee: [allows("p/a")], want: [] },
  ];
  test.each(rows)("$name", ({ caller, callee, want }) =>
    expect(agreed(service("p/a", caller), service("p/b", callee, { ports }))).toEqual(want),
  );

  test("with a callee without ports opens nothing", () => {
    expect(agreed(service("p/a", [calls("p/b")]), service("p/b", [allows("p/a")], { ports: [] }))).toEqual([]);
  });

  test("across namespaces names the namespace on both sides", () => {
    expect(agreed(service("p/a", [calls("q/b")]), service("q/b", [allows("p/a")]))).toEqual(["http"]);
    expect(agreed(service("p/a", [calls("q/b")]), service("q/b", [allows("q/a")]))).toEqual([]);
  });

  const self: readonly { name: string; says: Parameters<typeof service>[1]; want: readonly string[] }[] = [
    { name: "both", says: [calls("p/a", both)], want: ["http"] },
    { name: "both directions", says: [calls("p/a"), allows("p/a")], want: ["http"] },
    { name: "outbound alone is not enough", says: [calls("p/a")], want: [] },
    { name: "inbound alone is not enough", says: [allows("p/a")], want: [] },
  ];
  test.each(self)("with oneself: $name", ({ says, want }) => expect(agreed(service("p/a", says), service("p/a", says))).toEqual(want));

  test("cycles are legal", () => {
    const nodes = ["a", "b", "c"].map((name, at) =>
      service(`p/${name}`, [calls(`p/${["b", "c", "a"][at]}`), allows(`p/${["c", "a", "b"][at]}`)]),
    );
    const { graph } = meshOf(nodes);
    expect(nodes.map((node) => [incoming(graph, node)[0]?.caller, outgoing(graph, node).services[0]?.callee])).toEqual([
      ["p/c", "p/b"],
      ["p/a", "p/c"],
      ["p/b", "p/a"],
    ]);
  });
});

describe("requests", () => {
  const rules = (methods: readonly string[], paths: readonly string[]) => ({ requests: { methods, paths } });
  const taken = (...says: readonly Parameters<typeof allows>[1][]) =>
    agreement(
      service("p/a", [calls("p/b", rules(["PUT"], []))]),
      service(
        "p/b",
        says.map((one) => allows("p/a", one)),
      ),
    )?.requests;

  test("are what the callee takes; what the caller says of them counts for nothing", () => expect(taken({})).toBeUndefined());
  test("methods and paths", () => expect(taken(rules(["GET"], ["/x"]))).toEqual({ methods: ["GET"], paths: ["/x"] }));
  test("several add up, in a fixed order", () =>
    expect(taken(rules(["POST"], ["/y"]), rules(["GET"], ["/x"]))).toEqual({ methods: ["GET", "POST"], paths: ["/x", "/y"] }));
  test("one that takes any method makes it any", () =>
    expect(taken(rules(["POST"], ["/y"]), rules([], ["/x"]))).toEqual({ methods: [], paths: ["/x", "/y"] }));
  test("one without rules takes all", () => expect(taken(rules(["POST"], []), {})).toBeUndefined());
});

describe("databases that are no services of ours", () => {
  const caller = service("p/a", [calls("p/db-postgres", { managedPort: 5432 })]);
  const seen = (...others: Parameters<typeof meshOf>[0]) => {
    const { graph } = meshOf([caller, ...others]);
    const { services, externals, managed } = outgoing(graph, caller);
    return {
      services: services.map(({ callee }) => callee),
      externals: externals.map(({ id }) => id),
      managed,
      edge: edgesOf(graph, caller)[0]?.state.kind,
    };
  };

  test("the caller's declaration is enough", () => {
    expect(seen()).toEqual({ services: [], externals: [], managed: [{ peer: "p/db-postgres", port: 5432 }], edge: "managed" });
  });
  test("a service of that name must agree", () => {
    expect(seen(service("p/db-postgres"))).toEqual({ services: [], externals: [], managed: [], edge: "caller-only" });
    expect(seen(service("p/db-postgres", [allows("p/a")]))).toEqual({
      services: ["p/db-postgres"],
      externals: [],
      managed: [],
      edge: "agreed",
    });
  });
  test("an external service of that name must name the caller", () => {
    const url = "tcp://db.test:5432";
    expect(seen(external("p/db-postgres", [], url))).toEqual({ services: [], externals: [], managed: [], edge: "external-closed" });
    expect(seen(external("p/db-postgres", ["p/a"], url))).toEqual({
      services: [],
      externals: ["p/db-postgres"],
      managed: [],
      edge: "external",
    });
  });
  test("one of that name elsewhere is another", () => expect(seen(service("q/db-postgres")).edge).toBe("managed"));
  test("two ports are two", () => {
    const node = service("p/a", [calls("p/db", { managedPort: 1 }), calls("p/db", { managedPort: 2 }), calls("p/db", { managedPort: 1 })]);
    expect(outgoing(meshOf([node]).graph, node).managed).toEqual([
      { peer: "p/db", port: 1 },
      { peer: "p/db", port: 2 },
    ]);
  });
  test("one that is only inbound opens nothing", () => {
    const node = service("p/a", [allows("p/db", { managedPort: 1 })]);
    expect(outgoing(meshOf([node]).graph, node).managed).toEqual([]);
  });
});

describe("external services", () => {
  const open = (requesters: readonly string[], caller = "p/a", says = [calls("p/x")]) => {
    const node = service(caller, says);
    return outgoing(meshOf([node, external("p/x", requesters, "https://x.test")]).graph, node).externals.length === 1;
  };
  const rows: readonly { name: string; got: boolean; want: boolean }[] = [
    { name: "name their callers", got: open(["p/a"]), want: true },
    { name: "and no other service", got: open(["p/b"]), want: false },
    { name: "an empty list admits none", got: open([]), want: false },
    { name: "the caller must want it", got: open(["p/a"], "p/a", []), want: false },
    { name: "inbound is no wish to call", got: open(["p/a"], "p/a", [allows("p/x")]), want: false },
    { name: "* is all of the namespace", got: open(["*"]), want: true },
    { name: "and no other namespace", got: open(["*"], "q/a"), want: false },
    { name: "another namespace by name", got: open(["q/a"], "q/a"), want: true },
  ];
  test.each(rows)("$name", ({ got, want }) => expect(got).toBe(want));
});
