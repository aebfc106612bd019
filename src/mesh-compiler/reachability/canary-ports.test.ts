import { expect, it } from "vitest";
import type { KubeObject } from "#kube";
import { canaryPorts } from "./canary-ports.ts";

const object = (kind: string, spec: object) =>
  ({ apiVersion: "x/v1", kind, metadata: { name: "api", namespace: "shop" }, spec }) as unknown as KubeObject;
const canary = (service: object) => object("Canary", { targetRef: { kind: "Deployment", name: "api" }, service });
const deployment = (...numbers: readonly unknown[]) =>
  object("Deployment", {
    template: { spec: { containers: [{ ports: numbers.map((containerPort) => ({ name: `p${String(containerPort)}`, containerPort })) }] } },
  });
const port = (number: number, targetPort = number, name = `p${number}`) => ({ name, port: number, targetPort, protocol: "TCP" });

const rows: { name: string; given: readonly KubeObject[]; want: readonly unknown[] | undefined }[] = [
  { name: "without a Canary no ports are set", given: [deployment(8080)], want: undefined },
  {
    name: "the port of the Canary",
    given: [canary({ port: 80, targetPort: 8080 }), deployment(8080, 9090)],
    want: [port(80, 8080, "http")],
  },
  {
    name: "with port discovery the other ports of the pods too, under their own numbers",
    given: [canary({ port: 80, targetPort: 8080, portDiscovery: true }), deployment(8080, 9090, 9090, "odd")],
    want: [port(80, 8080, "http"), port(9090)],
  },
  {
    name: "without a Deployment there is nothing to discover",
    given: [canary({ port: 80, portName: "http", portDiscovery: true })],
    want: [port(80, 80, "http")],
  },
  { name: "a Canary without a port sets none", given: [canary({})], want: undefined },
];
it.each(rows)("$name", ({ given, want }) => {
  expect(canaryPorts(given).get("shop/api")).toEqual(want);
});

it("a Canary without a targetRef applies to the workload of the same name", () => {
  expect([...canaryPorts([object("Canary", { service: { port: 1 } })]).keys()]).toEqual(["shop/api"]);
});
