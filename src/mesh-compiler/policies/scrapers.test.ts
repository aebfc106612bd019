/** Which pods may read metrics: those of one namespace, on the declared metrics port and the waypoint's own, and no others (ADR 0008). */
import { describe, expect, test } from "vitest";
import { seededRandom } from "#base";
import type { Port } from "../graph/node.ts";
import { Mesh } from "../mesh.ts";
import { PLAIN_SETTINGS, randomNodes } from "../random-worlds.test-support.ts";
import { DataPlane } from "../reachability/data-plane.ts";
import type { PodIdentity } from "../reachability/peers.ts";
import { allows, calls, clusterOf, HTTP, meshOf, service } from "../objects.test-support.ts";

const METRICS: Port = { name: "metrics", port: 9090, targetPort: 9100, protocol: "TCP" };
const AMBIENT = { "istio.io/dataplane-mode": "ambient" };

function scraper(namespace: string, namespaceLabels: Readonly<Record<string, string>> = AMBIENT): PodIdentity {
  return { kind: "pod", namespace, labels: { app: "prometheus" }, namespaceLabels, serviceAccount: "prometheus" };
}

function ask(mesh: Mesh, from: PodIdentity, to: string, port: number) {
  const verdict = new DataPlane(clusterOf(mesh)).askDirectly(from, to, port);
  return { l4: verdict?.l4, l7: verdict?.l7 };
}

const OPEN = { l4: true, l7: true };

describe("when the namespace of the scrapers is set", () => {
  const nodes = [service("prod/api", [allows("prod/web")], { ports: [HTTP, METRICS] }), service("prod/web", [calls("prod/api")])];
  const mesh = meshOf(nodes, { monitoring: "monitoring" });

  test("they read the port named metrics directly at the pods", () =>
    expect(ask(mesh, scraper("monitoring"), "prod/api", 9100)).toEqual(OPEN));
  test("they read no other port of the same pods", () =>
    expect(ask(mesh, scraper("monitoring"), "prod/api", 8080)).toEqual({ l4: true, l7: false }));
  test("they read nothing of a service without such a port", () =>
    expect(ask(mesh, scraper("monitoring"), "prod/web", 8080)).toEqual({ l4: false, l7: false }));
  test("pods of other namespaces read nothing, at either layer", () =>
    expect(ask(mesh, scraper("elsewhere"), "prod/api", 9100)).toEqual({ l4: false, l7: false }));
  test("a scraper outside the mesh has no identity, and is denied at layer 7", () =>
    expect(ask(mesh, scraper("monitoring", {}), "prod/api", 9100)).toEqual({ l4: true, l7: false }));
  test("a service without callers is scraped too", () =>
    expect(
      ask(meshOf([service("prod/job", [], { ports: [METRICS] })], { monitoring: "monitoring" }), scraper("monitoring"), "prod/job", 9100),
    ).toEqual(OPEN));
  test("a metrics port that is not TCP is not scraped", () => {
    const odd = meshOf([service("prod/api", [], { ports: [{ ...METRICS, protocol: "UDP" }] })], { monitoring: "monitoring" });
    expect(odd.policiesOf("prod/api").map(({ kind }) => kind)).toEqual(["CiliumNetworkPolicy"]);
    expect(ask(odd, scraper("monitoring"), "prod/api", 9100)).toEqual({ l4: false, l7: false });
  });
});

describe("with a waypoint", () => {
  const nodes = [
    service("prod/api", [allows("prod/web", { requests: { methods: ["GET"], paths: [] } })], { ports: [HTTP, METRICS] }),
    service("prod/web", [calls("prod/api")]),
    service("prod/job", [], { ports: [METRICS] }),
  ];
  const mesh = meshOf(nodes, { monitoring: "monitoring" });

  test("its own metrics are read without an identity: its pods are not captured by the mesh", () => {
    for (const from of [scraper("monitoring"), scraper("monitoring", {})]) expect(ask(mesh, from, "prod/waypoint", 15_020)).toEqual(OPEN);
  });
  test("no other port of the waypoint is reachable", () => {
    for (const port of [15_000, 15_008, 15_021]) expect(ask(mesh, scraper("monitoring"), "prod/waypoint", port).l4).toBe(false);
  });
  test("scrapers bypass the waypoint and read the pods", () => {
    expect(ask(mesh, scraper("monitoring"), "prod/api", 9100)).toEqual(OPEN);
    expect(ask(mesh, scraper("monitoring"), "prod/job", 9100)).toEqual(OPEN);
  });
  test("a service without callers allows the scrapers, and not the waypoint", () => {
    const [policy] = mesh.policiesOf("prod/job");
    expect(policy).toMatchObject({
      metadata: { name: "job-waypoint" },
      spec: { rules: [{ from: [{ source: { namespaces: ["monitoring"] } }], to: [{ operation: { ports: ["9100"] } }] }] },
    });
  });
});

describe("when no namespace is set", () => {
  const canary = service("prod/api", [], { ports: [HTTP, METRICS], canary: true, measured: true });
  const plain = service("prod/web", [], { ports: [HTTP, METRICS] });
  const mesh = meshOf([canary, plain]);

  test("a canary that is analysed by metrics is scraped from istio-system, and so is its waypoint", () => {
    expect(ask(mesh, scraper("istio-system"), "prod/api", 9100)).toEqual(OPEN);
    expect(ask(mesh, scraper("istio-system", {}), "prod/waypoint", 15_020)).toEqual(OPEN);
  });
  test("the neighbours of the canary are not scraped", () =>
    expect(ask(mesh, scraper("istio-system"), "prod/web", 9100)).toEqual({ l4: false, l7: false }));
  test("neither a canary without metrics nor its waypoint is scraped", () => {
    const blind = meshOf([{ ...canary, measured: false }]);
    expect(ask(blind, scraper("istio-system"), "prod/api", 9100)).toEqual({ l4: false, l7: false });
    expect(ask(blind, scraper("istio-system"), "prod/waypoint", 15_020).l4).toBe(false);
  });
  test("removing the last canary removes the permission", () => {
    const changing = meshOf([canary, service("prod/x", [allows("prod/y", { requests: { methods: [], paths: [] } })])]);
    changing.remove("prod/api");
    expect(ask(changing, scraper("istio-system"), "prod/waypoint", 15_020).l4).toBe(false);
  });
});

test("thirty services, fifty seeds: scrapers read only ports named metrics, and other pods read nothing", () => {
  for (let seed = 0; seed < 50; seed += 1) {
    const mesh = new Mesh({ ...PLAIN_SETTINGS, monitoring: "monitoring" });
    for (const [at, node] of randomNodes(seededRandom(seed), { services: 30, externals: 0, requests: seed % 2 === 1 }).entries()) {
      mesh.put(node.kind === "service" && at % 3 === 0 ? { ...node, ports: [...node.ports, METRICS] } : node);
    }
    const plane = new DataPlane(clusterOf(mesh));
    const reached = (from: PodIdentity) =>
      plane
        .workloads()
        .flatMap((to) =>
          [8080, 9001, 9100].filter((port) => plane.askDirectly(from, to, port)?.l7 === true).map((port) => `${to}:${port}`),
        );
    const offered = plane
      .workloads()
      .filter((id) => mesh.graph.service(id)?.ports.includes(METRICS))
      .map((id) => `${id}:9100`);
    expect(reached(scraper("monitoring")), `seed ${seed}`).toEqual(offered);
    expect(reached(scraper("elsewhere")), `seed ${seed}`).toEqual([]);
  }
});
