import { expect, test } from "vitest";
import type { LocalMachineRun } from "#kube-controllers";
import type { FromApiServer } from "../messages/messages.ts";
import { FleetMachineHost } from "./machine-host.ts";

const RUN: LocalMachineRun = {
  id: "u1",
  name: "m1",
  cluster: "child",
  namespace: "capi-child",
  controlPlane: true,
  version: "v1.36.3",
  bootstrapData: "#cloud-config\n",
};

test("the host of machines sends each request once, and has the states of the supervisor", () => {
  const sent: FromApiServer[] = [];
  const host = new FleetMachineHost({ machines: [{ id: "u0", phase: "running", nodeName: "m0" }], send: (message) => sent.push(message) });
  expect(host.states()).toEqual(new Map([["u0", { phase: "running", nodeName: "m0" }]]));
  host.ensure(RUN);
  host.ensure({ ...RUN });
  host.remove("u0");
  expect(sent).toEqual([
    { kind: "machine-ensure", machine: RUN },
    { kind: "machine-remove", id: "u0" },
  ]);
  const changed: string[] = [];
  const end = host.subscribe((id) => changed.push(id));
  host.update({ kind: "machine-state", machine: { id: "u1", phase: "failed", message: "no" } });
  host.update({ kind: "machine-gone", id: "u0" });
  end();
  host.update({ kind: "machine-gone", id: "u1" });
  expect([changed, [...host.states()]]).toEqual([["u1", "u0"], []]);
  host.ensure(RUN);
  expect(sent.at(-1)).toEqual({ kind: "machine-ensure", machine: RUN });
});
