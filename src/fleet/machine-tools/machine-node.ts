/** The Node of a local machine, as its kubelet registers it. Pure. The nodes of a cluster are simulated in its API-server process. */
import type { Node, Taint } from "#kube";
import type { MachineView } from "../fleet-types.ts";
import type { KubeadmNode } from "./kubeadm-config.ts";

const CONTROL_PLANE = "node-role.kubernetes.io/control-plane";
const CONTROL_PLANE_LABELS = { [CONTROL_PLANE]: "", "node.kubernetes.io/exclude-from-external-load-balancers": "" };
const CONTROL_PLANE_TAINTS: readonly Taint[] = [{ key: CONTROL_PLANE, effect: "NoSchedule" }];

function providerIdOf({ namespace, name }: Pick<MachineView, "namespace" | "name">): string {
  return `local:///${namespace}/${name}`;
}

export function machineNode(machine: MachineView, { labels, taints }: KubeadmNode): Node {
  const { name, controlPlane, version } = machine;
  const wanted = taints ?? (controlPlane ? CONTROL_PLANE_TAINTS : []);
  return {
    apiVersion: "v1",
    kind: "Node",
    metadata: {
      name,
      labels: {
        ...labels,
        ...(controlPlane ? CONTROL_PLANE_LABELS : {}),
        "kubernetes.io/hostname": name,
        "simulation.lattice.dev/node": "true",
      },
      annotations: { "simulation.lattice.dev/version": version },
    },
    spec: { providerID: providerIdOf(machine), ...(wanted.length === 0 ? {} : { taints: [...wanted] }) },
  };
}
