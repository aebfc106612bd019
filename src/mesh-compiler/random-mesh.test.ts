/** The compiled policies, evaluated as the data plane does, allow exactly the calls that both sides declare. */
import { describe, expect, test } from "vitest";
import { seededRandom } from "#base";
import type { KubeObject } from "#kube";
import { roundsOf } from "../../test/builders/rounds.ts";
import { admits, agreement } from "./graph/agreements.ts";
import type { ServiceId } from "./graph/node.ts";
import { Mesh } from "./mesh.ts";
import { PLAIN_SETTINGS, randomNodes, randomService } from "./random-worlds.test-support.ts";
import { DataPlane } from "./reachability/data-plane.ts";
import type { PodIdentity } from "./reachability/peers.ts";
import { clusterOf, deploymentOf, policiesIn, service } from "./objects.test-support.ts";

const SEEDS = Array.from({ length: roundsOf({ sample: 20, long: 100 }) }, (_, seed) => seed);
const PORTS = [80, 9000];
const NAMESPACES = ["dev", "prod", "payments"];

function meshFor(seed: number, requests: boolean): Mesh {
  const mesh = new Mesh(PLAIN_SETTINGS);
  for (const node of randomNodes(seededRandom(seed), { services: 30, externals: 6, requests })) mesh.put(node);
  return mesh;
}

/** Pods without a service in Lattice namespaces: only the default deny applies to them. */
const STRAYS = ["dev/stray", "prod/stray"].flatMap((id) => deploymentOf(service(id))).map(withoutServiceLabel);

function withoutServiceLabel(object: KubeObject): KubeObject {
  return JSON.parse(JSON.stringify(object).replaceAll("lattice.dev/service", "app")) as KubeObject;
}

/** A pod of another team's namespace, in the mesh. */
const STRANGER: PodIdentity = {
  kind: "pod",
  namespace: "elsewhere",
  labels: {},
  namespaceLabels: { "istio.io/dataplane-mode": "ambient" },
  serviceAccount: "prometheus",
};

type Mutation = (object: KubeObject) => readonly KubeObject[];

/** The ports of the callee that the caller may call according to the declarations. */
function agreedPorts(mesh: Mesh, from: ServiceId, to: ServiceId): readonly number[] {
  const [caller, callee] = [mesh.graph.service(from), mesh.graph.service(to)];
  const agreed = caller === undefined || callee === undefined ? undefined : agreement(caller, callee);
  return (agreed?.ports ?? []).map(({ port }) => port);
}

/** Pairs at layer 4, and pairs and ports at layer 7, from the policies (got) and from the declarations (want). */
function compare(
  mesh: Mesh,
  mutate: Mutation = (object) => [object],
): { readonly got: readonly string[]; readonly want: readonly string[] } {
  const plane = new DataPlane([...clusterOf(mesh), ...STRAYS].flatMap(mutate));
  const got: string[] = [];
  const want: string[] = [];
  for (const to of [...plane.workloads(), ...NAMESPACES.map((name) => `${name}/waypoint`)]) {
    const reached = [8080, 15_008, 15_020].filter((port) => plane.askDirectly(STRANGER, to, port)?.open === true);
    got.push(...reached.map((port) => `a stranger > ${to}:${port}`));
  }
  for (const from of plane.workloads()) {
    for (const to of plane.workloads()) {
      const agreed = agreedPorts(mesh, from, to);
      const verdicts = PORTS.map((port) => ({ port, verdict: plane.ask({ from, to, port }) }));
      if (agreed.length > 0) want.push(`${from} > ${to}`);
      if (verdicts.some(({ verdict }) => verdict?.l4 === true)) got.push(`${from} > ${to}`);
      for (const { port, verdict } of verdicts) {
        if (agreed.includes(port)) want.push(`${from} > ${to}:${port}`);
        if (verdict?.l7 === true) got.push(`${from} > ${to}:${port}`);
      }
    }
  }
  return { got, want };
}

describe("thirty services, every ordered pair", () => {
  test("policies equal agreements, with waypoints and without", () => {
    for (const seed of SEEDS) {
      const { got, want } = compare(meshFor(seed, seed % 2 === 1));
      expect(got, `seed ${seed}`).toEqual(want);
    }
  }, 120_000);

  test("external services are open only to the callers they list", () => {
    for (const seed of SEEDS) {
      const mesh = meshFor(seed, false);
      const plane = new DataPlane(clusterOf(mesh));
      for (const node of mesh.graph.nodes()) {
        if (node.kind !== "external") continue;
        const [endpoint] = node.endpoints;
        const host = {
          kind: "outside" as const,
          host: endpoint?.host ?? "",
          address: node.resolution === "static" ? endpoint?.host : undefined,
        };
        for (const from of plane.workloads()) {
          const declared =
            mesh.graph
              .service(from)
              ?.declarations.get(node.id)
              ?.some(({ direction }) => direction !== "inbound") === true;
          expect(plane.askOutside(from, host, 443)?.l4, `seed ${seed}: ${from} > ${node.id}`).toBe(declared && admits(node, from));
        }
      }
    }
  }, 120_000);

  test("the gateway reaches only services with a route, on the routed port", () => {
    for (const seed of SEEDS.slice(0, 30)) {
      const mesh = meshFor(seed, seed % 2 === 0);
      const plane = new DataPlane(clusterOf(mesh));
      for (const to of plane.workloads()) {
        const node = mesh.graph.service(to);
        for (const port of PORTS) {
          const want = node !== undefined && node.routedPorts.includes(port) && node.ports.some((one) => one.port === port);
          expect(plane.ask({ from: "istio-ingress/gateway", to, port })?.l7, `seed ${seed}: ${to}:${port}`).toBe(want);
        }
      }
    }
  }, 120_000);
});

test("after any changes the policies equal those of a full compilation, byte for byte", () => {
  for (const seed of SEEDS) {
    const random = seededRandom(seed);
    const mesh = meshFor(seed, true);
    const ids = [...mesh.graph.nodes()].map(({ id }) => id);
    policiesIn(mesh);
    for (let step = 0; step < 15; step += 1) {
      const id = ids[Math.floor(random() * ids.length)] ?? "dev/s0";
      if (random() < 0.3) mesh.remove(id);
      else mesh.put(randomService(random, id, { ids, outside: [], requests: true }));
      if (step % 5 === 0) policiesIn(mesh);
    }
    const fresh = new Mesh(PLAIN_SETTINGS);
    for (const node of mesh.graph.nodes()) fresh.put(node);
    expect(JSON.stringify(policiesIn(mesh)), `seed ${seed}`).toBe(JSON.stringify(policiesIn(fresh)));
  }
}, 120_000);

test("methods and paths are enforced at the waypoint", () => {
  const mesh = new Mesh(PLAIN_SETTINGS);
  const random = seededRandom(1);
  const node = (id: string, peer: string, direction: "inbound" | "outbound") => ({
    ...randomService(random, id, { ids: [], outside: [], requests: false }),
    routedPorts: [],
    ports: [{ name: "http", port: 80, targetPort: 8080, protocol: "TCP" as const }],
    declarations: new Map([
      [
        peer,
        [
          {
            resource: "x",
            peer,
            direction,
            ports: undefined,
            requests: direction === "inbound" ? { methods: ["GET"], paths: ["/api/*"] } : undefined,
            managedPort: undefined,
          },
        ],
      ],
    ]),
  });
  mesh.put(node("dev/a", "prod/b", "outbound"));
  mesh.put(node("prod/b", "dev/a", "inbound"));
  const plane = new DataPlane(clusterOf(mesh));
  const ask = (method: string, path: string) => plane.ask({ from: "dev/a", to: "prod/b", port: 80, method, path })?.l7;
  expect([ask("GET", "/api/x"), ask("POST", "/api/x"), ask("GET", "/other")]).toEqual([true, false, false]);
});

describe("the comparison detects a compiler with this mistake", () => {
  /** Replaces a text in every object of that kind. */
  const rewrite =
    (kind: string, change: (text: string) => string): Mutation =>
    (object) => [object.kind === kind ? (JSON.parse(change(JSON.stringify(object))) as KubeObject) : object];
  const everywhere = (kind: string, from: RegExp, to: string) => rewrite(kind, (text) => text.replace(from, to));
  const withoutDefault =
    (kind: string): Mutation =>
    (object) =>
      object.kind === kind && object.metadata.name.startsWith("lattice-default-deny") ? [] : [object];
  const CNP = "CiliumNetworkPolicy";
  const AUTHZ = "AuthorizationPolicy";

  const mutants: readonly { name: string; mutate: Mutation }[] = [
    { name: "peer selectors without a namespace", mutate: everywhere(CNP, /,"k8s:io\.kubernetes\.pod\.namespace":"[^"]*"/g, "") },
    {
      name: "15008 open to all",
      mutate: rewrite(CNP, (text) =>
        text
          .replace('"ingress":[', '"ingress":[{"fromEntities":["all"],"toPorts":[{"ports":[{"port":"15008","protocol":"TCP"}]}]},')
          .replace('"egress":[', '"egress":[{"toEntities":["all"],"toPorts":[{"ports":[{"port":"15008","protocol":"TCP"}]}]},'),
      ),
    },
    { name: "no HBONE port", mutate: everywhere(CNP, /\{"port":"15008","protocol":"TCP"\},?/g, "") },
    { name: "no default deny for identities", mutate: withoutDefault(AUTHZ) },
    { name: "no default deny for packets", mutate: withoutDefault(CNP) },
    {
      name: "a default deny with empty lists, which the agent refuses",
      mutate: rewrite(CNP, (text) => text.replace('"ingress":[{}],"egress":[{}]', '"ingress":[],"egress":[]')),
    },
    {
      name: "scrapers from everywhere",
      mutate: everywhere(
        CNP,
        /"k8s:io\.kubernetes\.pod\.namespace":"istio-system"\}\}\],"toPorts":\[\{"ports":\[\{"port":"15020"/g,
        '"k8s:io.kubernetes.pod.namespace":"elsewhere"}}],"toPorts":[{"ports":[{"port":"15020"',
      ),
    },
    { name: "a wrong principal", mutate: everywhere(AUTHZ, /cluster\.local\/ns/g, "spiffe://cluster.local/ns") },
    { name: "principals without their namespace", mutate: everywhere(AUTHZ, /cluster\.local\/ns\/[^/]*\/sa\/(\w+)"/g, '*/$1"') },
    { name: "ports left out", mutate: everywhere(AUTHZ, /,"to":\[\{"operation":\{"ports":\[[^\]]*\]\}\}\]/g, "") },
    { name: "service ports where pod ports belong", mutate: everywhere(AUTHZ, /"8080"/g, '"80"') },
    {
      name: "rules on the Service without a waypoint",
      mutate: everywhere(
        AUTHZ,
        /"selector":\{"matchLabels":\{"lattice\.dev\/service":("[^"]*")\}\}/g,
        '"targetRefs":[{"kind":"Service","name":$1}]',
      ),
    },
    {
      name: "policies that select no pod",
      mutate: everywhere(CNP, /"endpointSelector":\{"matchLabels":\{"lattice\.dev\/service"/g, '"endpointSelector":{"matchLabels":{"app"'),
    },
    {
      name: "everything open at layer 4",
      mutate: rewrite(CNP, (text) =>
        text.replace('"egress":[', '"egress":[{"toEntities":["all"]},').replace('"ingress":[', '"ingress":[{"fromEntities":["all"]},'),
      ),
    },
    {
      name: "empty lists where rules belong",
      mutate: rewrite(CNP, (text) => text.replace(/"ingress":\[.*\],"egress":\[.*\]/, '"ingress":[],"egress":[]')),
    },
    { name: "namespaces outside the mesh", mutate: everywhere("Namespace", /"istio\.io\/dataplane-mode":"ambient"/, '"x":"y"') },
    { name: "a selector value that no label can have", mutate: everywhere(CNP, /(pod\.namespace":")prod"/g, '$1pro*"') },
    {
      name: "a waypoint without allowed callers",
      mutate: (object) => (object.kind === CNP && object.metadata.name === "waypoint" ? [] : [object]),
    },
    { name: "methods in a selector's rule", mutate: everywhere(AUTHZ, /"operation":\{"ports"/g, '"operation":{"methods":["GET"],"ports"') },
  ];
  test.each(mutants)("$name", ({ mutate }) => {
    const caught = SEEDS.slice(0, 20).some((seed) => {
      const { got, want } = compare(meshFor(seed, seed % 2 === 1), mutate);
      return got.join() !== want.join();
    });
    expect(caught).toBe(true);
  });
});
