/** Node ports of Services: which are shared, kept and newly allocated. */
import { randomInt } from "node:crypto";
import { expect } from "vitest";
import type { ApiResponse } from "../client/api-response.ts";
import { area } from "../contract.ts";
import { service } from "./objects.ts";

const nodePorts = (answer: ApiResponse) =>
  (answer.at("spec.ports") as readonly { readonly nodePort: number }[]).map(({ nodePort }) => nodePort);

/** Another contract may use the port: retries until it is free. */
const anyNodePort = () => randomInt(31_000, 32_768);

export const nodePortsOfServices = area("node ports", {
  "a merge patch that replaces the ports of a NodePort Service keeps node ports by the names of the ports": async (api) => {
    const made = await api.created("services", service("a", { type: "NodePort", ports: [{ port: 80 }] }));
    const [first] = nodePorts(made);
    const moved = (await api.mergePatch("services/a", { spec: { ports: [{ port: 8080, targetPort: 9090 }] } })).gives(200);
    expect(nodePorts(moved)).toEqual([first]);
    const ports = [
      { name: "http", port: 8080 },
      { name: "dns", port: 53, protocol: "UDP" },
    ];
    const named = (await api.mergePatch("services/a", { spec: { ports } })).gives(200);
    const [http, dns] = nodePorts(named);
    expect(new Set([first, http, dns]).size).toBe(3);
    const swapped = (await api.mergePatch("services/a", { spec: { ports: [{ ...ports[1], port: 54 }, ports[0]] } })).gives(200);
    expect(nodePorts(swapped)).toEqual([dns, http]);
  },

  "a patch can move a node port to another port, and the previous port gets a new one": async (api) => {
    const ports = [
      { name: "x", port: 80 },
      { name: "y", port: 81 },
    ];
    const [x, y] = nodePorts(await api.created("services", service("a", { type: "NodePort", ports })));
    const moved = { spec: { ports: [ports[0], { name: "z", port: 82, nodePort: x }] } };
    const [other, z] = nodePorts((await api.mergePatch("services/a", moved)).gives(200));
    expect(z).toBe(x);
    expect([x, y]).not.toContain(other);
  },

  "ports of a new Service with the same number share a node port, also a requested one": async (api) => {
    const ports = [
      { name: "tcp", port: 53 },
      { name: "udp", port: 53, protocol: "UDP" },
      { name: "web", port: 80 },
    ];
    const [tcp, udp, web] = nodePorts(await api.created("services", service("a", { type: "NodePort", ports })));
    expect(udp).toBe(tcp);
    expect(web).not.toBe(tcp);
    const ask = (nodePort: number) =>
      api.post("services", service("b", { type: "NodePort", ports: [ports[0], { ...ports[1], nodePort }] }));
    const made = await api.until(
      () => ask(anyNodePort()),
      ({ status }) => status === 201,
    );
    const [first, second] = nodePorts(made);
    expect(first).toBe(second);
  },

  "ports of a new Service with different numbers cannot request the same node port": async (api) => {
    const ask = (nodePort: number) => {
      const ports = [
        { name: "x", port: 80, nodePort },
        { name: "y", port: 81, protocol: "UDP", nodePort },
      ];
      return api.post("services", service("b", { type: "NodePort", ports }));
    };
    const refused = await api.until(
      () => ask(anyNodePort()),
      ({ text }) => text.includes("ports[1]"),
    );
    const message = /^Service "b" is invalid: spec.ports\[1\].nodePort: Invalid value: \d+: provided port is already allocated$/;
    refused.refuses(422, "Invalid", expect.stringMatching(message));
  },
});
