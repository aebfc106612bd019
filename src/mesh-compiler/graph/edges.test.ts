/** Every declared edge and its state. */
import { expect, test } from "vitest";
import { ADMIN, allows, calls, external, meshOf, service } from "../objects.test-support.ts";
import { allEdges } from "./edges.ts";

type Nodes = Parameters<typeof meshOf>[0];

const rows: readonly { name: string; given: Nodes; want: readonly string[] }[] = [
  { name: "none", given: [service("p/a")], want: [] },
  { name: "agreed", given: [service("p/a", [calls("p/b")]), service("p/b", [allows("p/a")])], want: ["p/a > p/b agreed 80"] },
  {
    name: "calls in both directions are two edges",
    given: [service("p/a", [calls("p/b", { direction: "both" })]), service("p/b", [calls("p/a", { direction: "both" })])],
    want: ["p/a > p/b agreed 80", "p/b > p/a agreed 80"],
  },
  {
    name: "a service that calls itself has one edge",
    given: [service("p/a", [calls("p/a", { direction: "both" })])],
    want: ["p/a > p/a agreed 80"],
  },
  { name: "only the caller", given: [service("p/a", [calls("p/b")]), service("p/b")], want: ["p/a > p/b caller-only"] },
  { name: "only the callee", given: [service("p/a"), service("p/b", [allows("p/a")])], want: ["p/a > p/b callee-only"] },
  { name: "no callee", given: [service("p/a", [calls("p/b")])], want: ["p/a > p/b unknown-callee"] },
  { name: "no caller", given: [service("p/b", [allows("p/a")])], want: ["p/a > p/b unknown-caller"] },
  {
    name: "no port",
    given: [service("p/a", [calls("p/b", { ports: ["x"] })]), service("p/b", [allows("p/a")])],
    want: ["p/a > p/b no-port"],
  },
  {
    name: "a callee without ports",
    given: [service("p/a", [calls("p/b")]), service("p/b", [allows("p/a")], { ports: [] })],
    want: ["p/a > p/b no-port"],
  },
  {
    name: "some ports",
    given: [service("p/a", [calls("p/b", { ports: ["admin"] })]), service("p/b", [allows("p/a")], { ports: [ADMIN] })],
    want: ["p/a > p/b agreed 9000"],
  },
  { name: "managed", given: [service("p/a", [calls("p/db", { managedPort: 5432 })])], want: ["p/a > p/db managed 5432"] },
  { name: "external", given: [service("p/a", [calls("p/x")]), external("p/x", ["p/a"], "https://x.test")], want: ["p/a > p/x external"] },
  {
    name: "external that does not name the caller",
    given: [service("p/a", [calls("p/x")]), external("p/x", [], "https://x.test")],
    want: ["p/a > p/x external-closed"],
  },
  {
    name: "an external service makes no calls",
    given: [service("p/a", [allows("p/x")]), external("p/x", ["*"], "https://x.test")],
    want: ["p/x > p/a unknown-caller"],
  },
];
test.each(rows)("$name", ({ given, want }) => {
  const shown = allEdges(meshOf(given).graph).map(({ caller, callee, state }) => {
    const ports =
      state.kind === "agreed" ? ` ${state.ports.map(({ port }) => port).join()}` : state.kind === "managed" ? ` ${state.port}` : "";
    return `${caller} > ${callee} ${state.kind}${ports}`;
  });
  expect(shown).toEqual(want);
});

test("the order of edges does not depend on the order of nodes", () => {
  const nodes = [service("p/c", [calls("p/a"), calls("p/b")]), service("p/a", [allows("p/c"), calls("p/b")]), service("p/b")];
  expect(allEdges(meshOf(nodes).graph)).toEqual(allEdges(meshOf(nodes.toReversed()).graph));
});

test("the size of the graph counts the nodes, and removed nodes are not counted", () => {
  const { graph } = meshOf([service("p/a", [calls("p/b")]), external("p/x", [], "https://x.test")]);
  expect([graph.size, [...graph.namespaces()]]).toEqual([2, ["p"]]);
  expect([...graph.remove("p/nothing")]).toEqual(["p/nothing"]);
  graph.remove("p/a");
  expect([graph.size, [...graph.namespaces()], [...graph.mentioning("p/b")]]).toEqual([1, [], []]);
});
