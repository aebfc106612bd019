/** Pictures of graphs: readable, complete, deterministic, and with names escaped. */
import { describe, expect, it } from "vitest";
import { expectOk, seededRandom } from "#base";
import { serviceYaml, worldOf } from "../../../test/builders/world.ts";
import { drawGraph, formatGraph } from "../graph-view.ts";
import { drawingOf, type Box } from "./drawing.ts";
import { layersOf, type Arc } from "./layers.ts";
import { mermaidText } from "./mermaid.ts";
import type { DrawnEdge, DrawnGraph } from "./model.ts";
import { svgText } from "./svg.ts";

const edge = (from: string, to: string, more: Partial<DrawnEdge> = {}): DrawnEdge => ({
  from,
  to,
  open: true,
  ports: "8080",
  meaning: "open",
  ...more,
});
const graphOf = (names: readonly string[], edges: readonly DrawnEdge[]): DrawnGraph => ({
  nodes: names.map((id) => ({ id, kind: "service" })),
  edges,
});

function randomGraph(seed: number): DrawnGraph {
  const random = seededRandom(seed);
  const names = Array.from({ length: 1 + Math.floor(random() * 40) }, (_, at) => `shop/${"s".repeat(1 + Math.floor(random() * 50))}${at}`);
  const pick = () => names[Math.floor(random() * names.length)] ?? "";
  const pairs = new Map(
    Array.from({ length: Math.floor(random() * 80) }, () => [pick(), pick()] as const).map((pair) => [pair.join(), pair]),
  );
  return graphOf(
    names,
    [...pairs.values()].map(([from, to]) => edge(from, to, { open: random() < 0.8 })),
  );
}

const overlap = (a: Box, b: Box) => a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height;

describe("columns", () => {
  const rows: { name: string; arcs: readonly Arc[]; want: readonly number[] }[] = [
    { name: "callers are left of their callees", arcs: [[0, 1], [1, 2], [0, 2]], want: [0, 1, 2] }, // prettier-ignore
    { name: "a cycle is cut at its last edge", arcs: [[0, 1], [1, 2], [2, 0]], want: [0, 1, 2] }, // prettier-ignore
    { name: "a service that calls itself is not a cycle", arcs: [[0, 0], [0, 1]], want: [0, 1, 0] }, // prettier-ignore
  ];
  it.each(rows)("$name", ({ arcs, want }) => {
    const { cells, routes } = layersOf(3, arcs);
    expect(cells.slice(0, 3).map(({ layer }) => layer)).toEqual(want);
    expect(routes).toHaveLength(arcs.length);
  });

  it("an edge over several columns passes a point in each", () => {
    const { cells, routes } = layersOf(4, [[0, 1], [1, 2], [2, 3], [0, 3]]); // prettier-ignore
    expect(routes[3]?.cells.map((cell) => cells[cell]?.layer)).toEqual([0, 1, 2, 3]);
  });

  it("the edges of two pairs do not cross", () => {
    const { columns, cells } = layersOf(4, [[0, 3], [1, 2]]); // prettier-ignore
    const [left = [], right = []] = columns;
    expect(right).toEqual(left.map((cell) => cells[cell]?.after[0]));
  });
});

describe("an SVG picture", () => {
  it("shows every service and edge within its frame, and no two boxes overlap", () => {
    for (let seed = 1; seed <= 60; seed++) {
      const graph = randomGraph(seed);
      const { boxes, curves, width, height } = drawingOf(graph);
      expect(boxes.map(({ node }) => node.id).toSorted()).toEqual(graph.nodes.map(({ id }) => id).toSorted());
      expect(curves.map((curve) => curve.edge)).toEqual(graph.edges);
      for (const [at, box] of boxes.entries()) {
        expect(boxes.slice(at + 1).filter((other) => overlap(box, other))).toEqual([]);
        expect(Math.min(box.x, box.y, width - box.x - box.width, height - box.y - box.height)).toBeGreaterThanOrEqual(-0.01);
      }
      expect(expectOk(svgText(graph))).toBe(expectOk(svgText(structuredClone(graph))));
    }
  });

  it("arrows end at the callee, also in a cycle", () => {
    const { boxes, curves } = drawingOf(graphOf(["a/a", "a/b"], [edge("a/a", "a/b"), edge("a/b", "a/a")]));
    for (const { edge: one, points } of curves) {
      const box = boxes.find(({ node }) => node.id === one.to);
      const head = points.at(-1);
      expect([box?.x, (box?.x ?? 0) + (box?.width ?? 0)]).toContain(head?.x);
    }
  });

  it("escapes markup in names, and contains only legal XML characters", () => {
    const name = `x/</title><script>alert("1")</script>&'\u0000\uD800`;
    const text = expectOk(svgText(graphOf([name], [edge(name, name, { ports: "<b>", meaning: "<i>" })])));
    expect(text).not.toMatch(/<script|<b>|<i>|\0/);
    expect(text).toContain("&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt;&amp;&#39;\uFFFD\uFFFD");
    expect(text.replaceAll(/&(amp|lt|gt|quot|#39);/g, "")).not.toContain("&");
  });

  it("shows why each edge is closed, and which services do not exist", () => {
    const text = expectOk(drawGraph(worldOf([serviceYaml("a", { calls: ["b", "gone"] }), serviceYaml("b"), serviceYaml("lonely")])));
    expect(text).toContain("<title>shop/a -&gt; shop/b: closed: only the caller declares it</title>");
    expect(text).toContain("<title>shop/gone: no such service</title>");
    expect(text).toContain(">lonely</text>");
    expect(text).toContain(">closed</text>");
  });

  it("is refused with advice for a graph that is too large to read", () => {
    const names = Array.from({ length: 201 }, (_, at) => `a/${at}`);
    const want = /^the graph has 201 services and 0 edges, and a picture can have 200 and 600; pass fewer files, or use -o json or -o dot$/;
    const refused = svgText(graphOf(names, []));
    expect(refused.ok ? "" : refused.error).toMatch(want);
  });

  it("of the largest graph is drawn", () => {
    const names = Array.from({ length: 200 }, (_, at) => `a/${at}`);
    const chain = names.slice(1).map((to, at) => edge(names[at] ?? "", to));
    const long = names
      .slice(0, 200)
      .flatMap((from, at) => [at + 60, at + 120].flatMap((to) => (to < 200 ? [edge(from, names[to] ?? "")] : [])));
    expect(svgText(graphOf(names, [...chain, ...long])).ok).toBe(true);
  });

  it("of an empty mesh is empty and valid", () => {
    expect(expectOk(svgText(graphOf([], [])))).toMatch(/^<svg .*<\/svg>\n$/s);
  });
});

describe("a Mermaid flowchart", () => {
  it("shows closed edges dashed with the reason, and what each node is", () => {
    const resources = "    db: {type: postgres}\n";
    const world = worldOf([serviceYaml("a", { calls: ["b"], spec: resources }), serviceYaml("b")]);
    expect(formatGraph(world, "mermaid")).toBe(
      [
        "flowchart LR",
        '  n0["shop/a"]',
        '  n1["shop/b"]',
        '  n2[("shop/db-postgres")]',
        '  n0 -.->|"closed: only the caller declares it"| n1',
        '  n0 -->|"5432"| n2',
        "  linkStyle 0 stroke:#b3261e,color:#b3261e",
        "",
      ].join("\n"),
    );
  });

  it("escapes Mermaid syntax", () => {
    const text = mermaidText(graphOf(['a/"]; click n0 <b>`'], []));
    expect(text).toBe('flowchart LR\n  n0["a/#34;#93;#59; click n0 #60;b#62;#96;"]\n');
  });
});
