/** The path of packets, and the enforcement point at which they are stopped. */
import { describe, expect, test } from "vitest";
import type { KubeObject } from "#kube";
import { allows, calls, clusterOf, deploymentOf, HTTP, meshOf, service } from "../objects.test-support.ts";
import { DataPlane } from "./data-plane.ts";

const pair = () => meshOf([service("prod/web", [calls("prod/api")]), service("prod/api", [allows("prod/web")])]);
const objectsOf = (mesh = pair()) => clusterOf(mesh);
const rewritten = (objects: readonly KubeObject[], change: (text: string) => string) =>
  JSON.parse(change(JSON.stringify(objects))) as readonly KubeObject[];
const CALL = { from: "prod/web", to: "prod/api", port: 80 };
const verdict = (objects: readonly KubeObject[], question = CALL) => {
  const { l4, l7, open } = new DataPlane(objects).ask(question) ?? {};
  return { l4, l7, open };
};
const OPEN = { l4: true, l7: true, open: true };

test("an agreed call is open, and each enforcement point names the policies that allow it", () => {
  expect(new DataPlane(objectsOf()).ask(CALL)).toEqual({
    ...OPEN,
    steps: [
      { point: "egress", at: "prod/web", allowed: true, by: ["prod/web"] },
      { point: "ingress", at: "prod/api", allowed: true, by: ["prod/api"] },
      { point: "identity", at: "prod/api", allowed: true, by: ["prod/api"] },
    ],
  });
});

test("the reverse direction is closed at every enforcement point", () => {
  const steps = new DataPlane(objectsOf()).ask({ from: "prod/api", to: "prod/web", port: 80 })?.steps;
  expect(steps).toEqual([
    { point: "egress", at: "prod/api", allowed: false, by: ["prod/lattice-default-deny", "prod/api"] },
    { point: "ingress", at: "prod/web", allowed: false, by: ["prod/lattice-default-deny", "prod/web"] },
    { point: "identity", at: "prod/web", allowed: false, by: ["prod/lattice-default-deny"] },
  ]);
});

test("a pair with an unknown service has no verdict", () => {
  const plane = new DataPlane(objectsOf());
  expect([
    plane.ask({ ...CALL, to: "prod/x" }),
    plane.ask({ ...CALL, from: "x" }),
    plane.askOutside("x", { kind: "outside", host: "", address: "1.1.1.1" }, 1),
  ]).toEqual([undefined, undefined, undefined]);
  expect([plane.workloads(), plane.portsOf("prod/api"), plane.portsOf("x")]).toEqual([["prod/api", "prod/web"], [80], []]);
});

describe("the path of a call", () => {
  test("outside the mesh no identity is checked, and packets have the target port", () => {
    const objects = rewritten(objectsOf(), (text) => text.replaceAll('"istio.io/dataplane-mode":"ambient"', '"x":"y"'));
    expect(verdict(objects)).toEqual(OPEN);
    expect(verdict(objects, { ...CALL, from: "prod/api", to: "prod/web" })).toEqual({ l4: false, l7: true, open: false });
  });

  test("a caller outside the mesh has no identity", () => {
    const mesh = meshOf([service("dev/web", [calls("prod/api")]), service("prod/api", [allows("dev/web")])]);
    const objects = rewritten(clusterOf(mesh), (text) =>
      text.replace('"name":"dev","labels":{"app.kubernetes.io/managed-by":"lattice","istio.io/dataplane-mode":"ambient"}', '"name":"dev"'),
    );
    expect(verdict(objects, { ...CALL, from: "dev/web" })).toEqual({ l4: true, l7: false, open: false });
  });

  test("rules that target the Service open nothing without a waypoint", () => {
    const objects = rewritten(objectsOf(), (text) =>
      text.replace('"selector":{"matchLabels":{"lattice.dev/service":"api"}}', '"targetRefs":[{"kind":"Service","name":"api"}]'),
    );
    expect(verdict(objects)).toEqual({ l4: true, l7: false, open: false });
  });

  const behindWaypoint = () =>
    clusterOf(
      meshOf([service("prod/web", [calls("prod/api")]), service("prod/api", [allows("prod/web")])], { waypointWanted: () => true }),
    );

  test("with a waypoint the call passes through it, and arrives with the waypoint's identity", () => {
    const steps = new DataPlane(behindWaypoint())
      .ask(CALL)
      ?.steps.map(({ point, at, allowed }) => `${allowed ? "yes" : "no"} ${point} ${at}`);
    expect(steps).toEqual([
      "yes egress prod/web",
      "yes ingress prod/waypoint",
      "yes waypoint prod/waypoint",
      "yes egress prod/waypoint",
      "yes ingress prod/api",
      "yes identity prod/api",
      "yes egress prod/web (pair)",
      "yes ingress prod/api (pair)",
    ]);
  });

  const without = (name: string, kind: string) =>
    behindWaypoint().filter((object) => object.kind !== kind || object.metadata.name !== name);
  test("a workload that does not allow the waypoint is closed", () => {
    expect(verdict(without("api-waypoint", "AuthorizationPolicy"))).toEqual({ l4: true, l7: false, open: false });
  });
  test("a waypoint without its own policy is closed by the default deny", () => {
    expect(verdict(without("waypoint", "CiliumNetworkPolicy"))).toEqual({ l4: false, l7: true, open: false });
  });
  test("the label without a Gateway is not a waypoint, and the Service's rules are not enforced", () => {
    expect(verdict(without("waypoint", "Gateway"))).toEqual({ l4: true, l7: false, open: false });
  });
  test("use-waypoint: none opts out", () => {
    const objects = rewritten(behindWaypoint(), (text) =>
      text.replaceAll('"istio.io/use-waypoint":"waypoint"', '"istio.io/use-waypoint":"none"'),
    );
    expect(verdict(objects).l7).toBe(false);
  });

  test("between pods of the mesh Cilium sees only port 15008", () => {
    const objects = rewritten(objectsOf(), (text) => text.replaceAll('{"port":"15008","protocol":"TCP"},', ""));
    expect(verdict(objects)).toEqual({ l4: false, l7: true, open: false });
  });

  test("Flagger's primary pods are reachable: they keep the label that policies select", () => {
    const primary = rewritten(objectsOf(), (text) =>
      text.replaceAll(
        '"labels":{"app.kubernetes.io/name":"api","lattice.dev/service":"api"}',
        '"labels":{"app.kubernetes.io/name":"api-primary","lattice.dev/service":"api"}',
      ),
    );
    expect(verdict(primary)).toEqual(OPEN);
  });

  test("the identity is the Deployment's service account, or `default` without one", () => {
    const objects = rewritten(objectsOf(), (text) => text.replace('"serviceAccountName":"web"', '"x":"y"'));
    expect(verdict(objects)).toEqual({ l4: true, l7: false, open: false });
  });

  test("the service account of a node may differ from its name", () => {
    const mesh = meshOf([
      service("prod/web", [calls("prod/api")], { serviceAccount: "legacy" }),
      service("prod/api", [allows("prod/web")]),
    ]);
    expect(verdict(clusterOf(mesh))).toEqual(OPEN);
  });

  test("a route allows the gateway to call the routed port only", () => {
    const ports = [HTTP, { name: "admin", port: 81, targetPort: 81, protocol: "TCP" as const }];
    const objects = clusterOf(meshOf([service("prod/api", [], { ports, routedPorts: [80] }), service("prod/web")]));
    const ask = (to: string, port: number) => verdict(objects, { from: "istio-ingress/gateway", to, port });
    expect([ask("prod/api", 80), ask("prod/api", 81).l7, ask("prod/web", 80)]).toEqual([
      OPEN,
      false,
      { l4: false, l7: false, open: false },
    ]);
  });
});

describe("UDP", () => {
  const dns = { name: "dns", port: 53, targetPort: 53, protocol: "UDP" as const };
  const tcp = { name: "dns-tcp", port: 53, targetPort: 53, protocol: "TCP" as const };
  const agreedOn = (ports: readonly string[]) =>
    new DataPlane(
      clusterOf(
        meshOf([service("prod/web", [calls("prod/dns", { ports })]), service("prod/dns", [allows("prod/web")], { ports: [dns, tcp] })]),
      ),
    );
  const ask = (plane: DataPlane, protocol: string) => plane.ask({ from: "prod/web", to: "prod/dns", port: 53, protocol });

  test("bypasses the mesh: Cilium alone restricts pairs and ports", () => {
    expect(ask(agreedOn(["dns"]), "UDP")).toMatchObject({ open: true, steps: [{ point: "egress" }, { point: "ingress" }] });
  });
  test("an agreement on it does not open TCP of the same number", () => {
    expect(ask(agreedOn(["dns"]), "TCP")).toMatchObject({ open: false });
    expect(ask(agreedOn(["dns-tcp"]), "TCP")).toMatchObject({ open: true });
  });
});

test("each namespace may have its own trust domain", () => {
  const trustDomain = (namespace: string) => (namespace === "dev" ? "dev.test" : "cluster.local");
  const mesh = meshOf([service("dev/web", [calls("prod/api")]), service("prod/api", [allows("dev/web")])], { trustDomain });
  const question = { from: "dev/web", to: "prod/api", port: 80 };
  expect(new DataPlane(clusterOf(mesh), trustDomain).ask(question)?.open).toBe(true);
  expect(new DataPlane(clusterOf(mesh)).ask(question)?.open).toBe(false);
});

test("a Deployment without a namespace is in default, and a Service port without a number is ignored", () => {
  const [deployment] = deploymentOf(service("default/x"));
  const objects = [
    { ...deployment, metadata: { name: "x" } },
    { apiVersion: "v1", kind: "Service", metadata: { name: "x" }, spec: { ports: [{ port: 80 }, { port: "http" }] } },
    { apiVersion: "gateway.networking.k8s.io/v1", kind: "Gateway", metadata: { name: "g" } },
  ] as unknown as readonly KubeObject[];
  const plane = new DataPlane(objects);
  expect([plane.portsOf("default/x"), plane.ask({ from: "default/g", to: "default/x", port: 80 })?.open]).toEqual([[80], true]);
});
