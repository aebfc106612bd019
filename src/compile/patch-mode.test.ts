/** Services in patch mode in a world: what is compiled, their identity, and that they agree with owned services as any other. */
import { describe, expect, test } from "vitest";
import {
  compileAll,
  describeServiceError,
  formatAnswers,
  formatGraph,
  placeOfError,
  why,
  World,
  worldSettings,
  type WorkloadFacts,
} from "./index.ts";
import { expectOk } from "#base";
import { parseLatticeService, type LatticeService } from "#crds";
import { fieldAt } from "#kube";
import { DataPlane } from "#mesh-compiler";
import { worldOf } from "../../test/builders/world.ts";

const deploymentYaml = (name: string, account = name, metadata = "") => `
apiVersion: apps/v1
kind: Deployment
metadata: {name: ${name}, namespace: shop${metadata}}
spec: {template: {spec: {serviceAccountName: ${account}, containers: [{name: main, image: a}]}}}
`;

type Row = { readonly calls?: readonly string[]; readonly calledBy?: readonly string[]; readonly patches?: string; readonly more?: string };

function serviceYaml(name: string, { calls = [], calledBy = [], patches, more = "" }: Row): string {
  const peers = [...new Set([...calls, ...calledBy])].map((peer) => {
    const direction = calls.includes(peer) ? (calledBy.includes(peer) ? "both" : "outbound") : "inbound";
    return `${peer}: {direction: ${direction}}`;
  });
  const workload = patches === undefined ? "containers: {main: {image: 'a:1'}}" : `workloadRef: {name: ${patches}, namespace: shop}`;
  return `
apiVersion: lattice.dev/v1alpha1
kind: LatticeService
metadata: {name: ${name}, namespace: shop}
spec: {${workload}, service: {ports: {http: {port: 8080}}}, resources: {${peers.join(", ")}}${more}}
`;
}

describe("a patched Deployment", () => {
  const texts = [
    serviceYaml("front", { calls: ["web"] }),
    serviceYaml("web", { patches: "nginx", calledBy: ["front"], calls: ["db"] }),
    serviceYaml("db", { calledBy: ["web"] }),
    deploymentYaml("nginx", "web-account"),
  ];

  test("has its own ServiceAccount as principal, and neither Deployment nor ServiceAccount is compiled", () => {
    const { objects, errors } = compileAll(worldOf(texts));
    expect(errors.size).toBe(0);
    const ofWeb = objects.filter(({ metadata }) => metadata.name === "web").map(({ kind }) => kind);
    expect(ofWeb).toEqual(["Service", "AuthorizationPolicy", "CiliumNetworkPolicy"]);
    const policy = objects.find(({ kind, metadata }) => kind === "AuthorizationPolicy" && metadata.name === "db");
    expect(JSON.stringify(policy)).toContain("cluster.local/ns/shop/sa/web-account");
    const service = objects.find(({ kind, metadata }) => kind === "Service" && metadata.name === "web");
    expect(fieldAt(service, "spec", "selector")).toEqual({ "lattice.dev/service": "web" });
  });

  test("is open in both directions, in why and in the graph", () => {
    const world = worldOf(texts);
    for (const [from, to] of [
      ["front", "web"],
      ["web", "db"],
    ] as const)
      expect(expectOk(why(world, { from, to })).map(({ open }) => open)).toEqual([true]);
    expect(expectOk(why(world, { from: "front", to: "db" })).map(({ open }) => open)).toEqual([false]);
    expect(formatGraph(world, "text")).toMatch(/shop\/web +-> +shop\/db:8080 +open/);
  });

  test.each([
    {
      name: "the patched callee",
      front: ["web"],
      web: [],
      want: ["shop/web does not declare that shop/front may call it. Add to LatticeService shop/web:"],
    },
    {
      name: "the owned caller",
      front: [],
      web: ["front"],
      want: ["shop/front does not declare that it calls shop/web. Add to LatticeService shop/front:"],
    },
    { name: "both", front: [], web: [], want: ["Add to LatticeService shop/front:", "Add to LatticeService shop/web:"] },
  ])("is closed without the declaration of $name, and why names it", ({ front, web, want }) => {
    const world = worldOf([
      serviceYaml("front", { calls: front }),
      serviceYaml("web", { patches: "nginx", calledBy: web }),
      deploymentYaml("nginx", "web-account"),
    ]);
    const text = formatAnswers(expectOk(why(world, { from: "front", to: "web" })));
    expect(text).toContain("shop/front -> shop/web:8080 is closed");
    for (const line of want) expect(text).toContain(line);
    expect(text.split("Add to LatticeService")).toHaveLength(want.length + 1);
  });

  test("is recognized in the objects of a cluster by the label of its pods, not by its name", () => {
    const { namespaces, objects } = compileAll(worldOf(texts));
    const template = { metadata: { labels: { "lattice.dev/service": "web" } }, spec: { serviceAccountName: "web-account" } };
    const other = { apiVersion: "apps/v1", kind: "Deployment", metadata: { name: "web", namespace: "shop" }, spec: { template: {} } };
    const live = { ...other, metadata: { name: "nginx", namespace: "shop" }, spec: { template } };
    const plane = new DataPlane([...namespaces, ...objects, other, live]);
    expect(plane.ask({ from: "shop/web", to: "shop/db", port: 8080 })?.open).toBe(true);
    expect(plane.ask({ from: "shop/front", to: "shop/web", port: 8080 })?.open).toBe(true);
  });
});

describe("a service may not patch", () => {
  const web = (ref = "nginx") => serviceYaml("web", { patches: ref });
  const rows = [
    {
      name: "a Deployment with the ServiceAccount default",
      given: [web(), deploymentYaml("nginx", "default")],
      want: "shop/web spec.workloadRef: Deployment shop/nginx uses the ServiceAccount default, which other pods of the namespace share: a policy cannot tell them apart",
    },
    {
      name: "a Deployment that a service of an earlier name patches",
      given: [web(), serviceYaml("app", { patches: "nginx" })],
      want: "shop/web spec.workloadRef: Deployment shop/nginx is patched by LatticeService shop/app, which takes precedence",
    },
    {
      name: "the Deployment of another service",
      given: [web("own"), serviceYaml("own", {})],
      want: "shop/web spec.workloadRef: Deployment shop/own is made for LatticeService shop/own, and patch mode is for Deployments of other owners",
    },
    {
      name: "Flagger's copy",
      given: [
        web(),
        deploymentYaml("nginx", "nginx", ", ownerReferences: [{apiVersion: flagger.app/v1beta1, kind: Canary, name: a, uid: b}]"),
      ],
      want: "shop/web spec.workloadRef: Deployment shop/nginx is a copy that Flagger makes and overwrites",
    },
    {
      name: "a Deployment of another namespace",
      given: [web().replace("{name: nginx, namespace: shop}", "{name: nginx, namespace: other}")],
      want: "shop/web spec.workloadRef.namespace: namespace other is not the namespace in which the service runs, shop",
    },
    {
      name: "a Deployment of an environment that is not shared with its namespace",
      given: [
        web().replace(
          "metadata: {name: web, namespace: shop}\nspec: {",
          "metadata: {name: web, namespace: team}\nspec: {environment: shop, ",
        ),
        "apiVersion: lattice.dev/v1alpha1\nkind: LatticeEnvironment\nmetadata: {name: shop}\nspec: {sourceNamespaces: [team]}\n",
        deploymentYaml("nginx"),
      ],
      want: "team/web spec.workloadRef: Deployment shop/nginx is not shared with namespace team",
    },
  ];
  test.each(rows)("$name", ({ given, want }) => {
    const found = (texts: readonly string[]) =>
      [...compileAll(worldOf(texts)).errors].flatMap(([key, errors]) =>
        errors.map((error) => `${key} ${placeOfError(error)}: ${describeServiceError(error).split("\n")[0]}`),
      );
    expect(found(given)).toEqual([want]);
    expect(found(given.toReversed())).toEqual([want]);
  });
});

/** A generator of numbers with a seed. */
function random(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return state / 2_147_483_648;
  };
}

test("in random meshes of owned and patched services every pair is open exactly as both declare it", () => {
  for (let seed = 1; seed <= 10; seed += 1) {
    const next = random(seed);
    const names = Array.from({ length: 7 }, (_, at) => `s${at}`);
    const patched = new Set(names.filter(() => next() < 0.5));
    const declared = (share: number) => new Set(names.flatMap((a) => names.map((b) => `${a} ${b}`)).filter(() => next() < share));
    const [calling, called] = [declared(0.5), declared(0.5)];
    const texts = names.flatMap((name) => {
      const others = names.filter((other) => other !== name);
      const calls = others.filter((other) => calling.has(`${name} ${other}`));
      const calledBy = others.filter((other) => called.has(`${other} ${name}`));
      const target = patched.has(name) ? { patches: `d-${name}` } : {};
      return [serviceYaml(name, { calls, calledBy, ...target }), ...(patched.has(name) ? [deploymentYaml(`d-${name}`, `a-${name}`)] : [])];
    });
    const { namespaces, objects, patched: pods } = compileAll(worldOf(texts));
    const plane = new DataPlane([...namespaces, ...objects, ...pods]);
    for (const from of names) {
      for (const to of names.filter((other) => other !== from)) {
        const open = plane.ask({ from: `shop/${from}`, to: `shop/${to}`, port: 8080 })?.open;
        expect(`${seed} ${from} ${to} ${open}`).toBe(
          `${seed} ${from} ${to} ${calling.has(`${from} ${to}`) && called.has(`${from} ${to}`)}`,
        );
      }
    }
  }
});

describe("a change of the Deployment", () => {
  const parsed = (name: string, spec: object): LatticeService =>
    expectOk(
      parseLatticeService({ apiVersion: "lattice.dev/v1alpha1", kind: "LatticeService", metadata: { name, namespace: "shop" }, spec }),
    );
  const facts = (serviceAccount: string): WorkloadFacts => ({ serviceAccount, labels: {}, isCopy: false });
  const containers = { main: { image: "a:1" } };
  const service = { ports: { http: { port: 80 } } };

  test("affects the service and its peers if the ServiceAccount changes, and only the service if it does not", () => {
    let found: WorkloadFacts | undefined = facts("one");
    const world = new World(worldSettings({}, { findWorkload: () => found }));
    world.put(parsed("db", { containers, service, resources: { web: { direction: "inbound" } } }));
    world.put(parsed("other", { containers }));
    world.put(parsed("web", { workloadRef: { name: "nginx", namespace: "shop" }, resources: { db: { direction: "outbound" } } }));
    const principals = () => JSON.stringify(world.mesh.policiesOf("shop/db"));
    expect(principals()).toContain("sa/one");
    const key = { namespace: "shop", name: "nginx" };
    expect(world.workloadChanged(key)).toEqual(new Set(["shop/web"]));
    found = facts("two");
    expect(world.workloadChanged(key)).toEqual(new Set(["shop/web", "shop/db"]));
    expect(principals()).toContain("sa/two");
    found = undefined;
    expect(world.workloadChanged(key)).toEqual(new Set(["shop/web", "shop/db"]));
    expect(principals()).not.toContain("sa/");
    expect(world.compile("shop/web").ok).toBe(true);
    expect(world.dependenciesOf("shop/web")?.closed).toEqual(new Map([["db", "there is no Deployment shop/nginx"]]));
    expect(world.dependenciesOf("shop/db")?.closed).toEqual(new Map());
    expect(expectOk(why(world, { from: "web", to: "db" }))[0]).toMatchObject({
      open: false,
      missing: [],
      notes: ["nothing is open for shop/web: there is no Deployment shop/nginx"],
    });
  });

  test("a service that still has its own Deployment keeps that identity while the other does not exist", () => {
    const own = { ...facts("web"), madeFor: "shop/web" };
    const world = new World(worldSettings({}, { findWorkload: (_, name) => (name === "web" ? own : undefined) }));
    world.put(parsed("db", { containers, service, resources: { web: { direction: "inbound" } } }));
    world.put(parsed("web", { workloadRef: { name: "nginx", namespace: "shop" }, resources: { db: { direction: "outbound" } } }));
    expect(JSON.stringify(world.mesh.policiesOf("shop/db"))).toContain("sa/web");
  });
});
