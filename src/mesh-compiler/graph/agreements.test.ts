/** Which services may call which: an edge is open when both sides declare it. */
import { describe, expect, test } from "vitest";
import { ADMIN, allows, calls, external, HTTP, meshOf, service } from "../objects.test-support.ts";
import { agreement, incoming, outgoing } from "./agreements.ts";
import { edgesOf } from "./edges.ts";
import type { ServiceNode } from "./node.ts";

const ports = [ADMIN, HTTP];
const both = { direction: "both" as const };

/** Ports on which the first service may call the second. */
function agreed(caller: ServiceNode, callee: ServiceNode): readonly string[] {
  return (agreement(caller, callee)?.ports ?? []).map(({ name }) => name);
}

describe("an agreement", () => {
  type Row = { name: string; caller: Parameters<typeof service>[1]; callee: Parameters<typeof service>[1]; want: readonly string[] };
  const rows: readonly Row[] = [
    { name: "needs both sides", caller: [calls("p/b")], callee: [allows("p/a")], want: ["admin", "http"] },
    { name: "is missing when only the caller declares it", caller: [calls("p/b")], callee: [], want: [] },
    { name: "is missing when only the callee declares it", caller: [], callee: [allows("p/a")], want: [] },
    { name: "is missing when both are outbound", caller: [calls("p/b")], callee: [calls("p/a")], want: [] },
    { name: "is missing when both are inbound", caller: [allows("p/b")], callee: [allows("p/a")], want: [] },
    {
      name: "direction both counts as inbound and as outbound",
      caller: [calls("p/b", both)],
      callee: [allows("p/a", both)],
      want: ["admin", "http"],
    },
    {
      name: "an inbound and an outbound declaration together count as both",
      caller: [calls("p/b"), allows("p/b")],
      callee: [allows("p/a")],
      want: ["admin", "http"],
    },
    {
      name: "the caller may limit the ports by name",
      caller: [calls("p/b", { ports: ["http"] })],
      callee: [allows("p/a")],
      want: ["http"],
    },
    {
      name: "the caller may limit the ports by number",
      caller: [calls("p/b", { ports: [9000] })],
      callee: [allows("p/a")],
      want: ["admin"],
    },
    { name: "the callee may limit the ports", caller: [calls("p/b")], callee: [allows("p/a", { ports: ["http"] })], want: ["http"] },
    {
      name: "only ports that both sides list are open",
      caller: [calls("p/b", { ports: ["http", "admin"] })],
      callee: [allows("p/a", { ports: [9000] })],
      want: ["admin"],
    },
    {
      name: "without a common port nothing is open",
      caller: [calls("p/b", { ports: ["http"] })],
      callee: [allows("p/a", { ports: ["admin"] })],
      want: [],
    },
    {
      name: "a port number is the port of the Service, not of the pod",
      caller: [calls("p/b", { ports: [8080] })],
      callee: [allows("p/a")],
      want: [],
    },
    { name: "an empty list of ports opens nothing", caller: [calls("p/b", { ports: [] })], callee: [allows("p/a")], want: [] },
    {
      name: "the ports of several declarations are combined",
      caller: [calls("p/b", { ports: ["http"] }), calls("p/b", { ports: [9000] })],
      callee: [allows("p/a")],
      want: ["admin", "http"],
    },
    { name: "the same name in another namespace is another service", caller: [calls("q/b")], callee: [allows("p/a")], want: [] },
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
  test.each(self)("of a service with itself: $name", ({ says, want }) =>
    expect(agreed(service("p/a", says), service("p/a", says))).toEqual(want),
  );

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

  test("are limited by the callee only; the caller's rules have no effect", () => expect(taken({})).toBeUndefined());
  test("methods and paths", () => expect(taken(rules(["GET"], ["/x"]))).toEqual({ methods: ["GET"], paths: ["/x"] }));
  test("several declarations are combined, in a fixed order", () =>
    expect(taken(rules(["POST"], ["/y"]), rules(["GET"], ["/x"]))).toEqual({ methods: ["GET", "POST"], paths: ["/x", "/y"] }));
  test("one declaration without methods allows any method", () =>
    expect(taken(rules(["POST"], ["/y"]), rules([], ["/x"]))).toEqual({ methods: [], paths: ["/x", "/y"] }));
  test("one declaration without rules allows every request", () => expect(taken(rules(["POST"], []), {})).toBeUndefined());
});

describe("databases that are not Lattice services", () => {
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
  test("a service of that name in another namespace is unrelated", () => expect(seen(service("q/db-postgres")).edge).toBe("managed"));
  test("two declared ports are two entries", () => {
    const node = service("p/a", [calls("p/db", { managedPort: 1 }), calls("p/db", { managedPort: 2 }), calls("p/db", { managedPort: 1 })]);
    expect(outgoing(meshOf([node]).graph, node).managed).toEqual([
      { peer: "p/db", port: 1 },
      { peer: "p/db", port: 2 },
    ]);
  });
  test("an inbound declaration opens nothing", () => {
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
    { name: "list their callers", got: open(["p/a"]), want: true },
    { name: "do not allow a caller that is not listed", got: open(["p/b"]), want: false },
    { name: "an empty list allows no caller", got: open([]), want: false },
    { name: "the caller must declare it", got: open(["p/a"], "p/a", []), want: false },
    { name: "an inbound declaration of the caller does not count", got: open(["p/a"], "p/a", [allows("p/x")]), want: false },
    { name: "* allows every service of the namespace", got: open(["*"]), want: true },
    { name: "* does not allow other namespaces", got: open(["*"], "q/a"), want: false },
    { name: "a caller of another namespace may be listed", got: open(["q/a"], "q/a"), want: true },
  ];
  test.each(rows)("$name", ({ got, want }) => expect(got).toBe(want));
});
