/** Quota usage of Services: their number, node ports and load balancers. */
import { field, fieldAt } from "../json.ts";
import type { KubeObject } from "../object.ts";
import { amountOf, type Amounts } from "./amounts.ts";
import { countName, noRefusal, noScope, type QuotaEvaluator } from "./evaluator.ts";
import { itemsAt } from "./pod-resources.ts";

const COUNT = countName("", "services");
const NAMES: ReadonlySet<string> = new Set([COUNT, "services", "services.nodeports", "services.loadbalancers"]);

export const serviceQuota: QuotaEvaluator = {
  group: "",
  plural: "services",
  tracks: (name) => NAMES.has(name),
  inScope: noScope,
  usage: serviceUsage,
  refusal: noRefusal,
};

function serviceUsage(service: KubeObject): Amounts {
  const balanced = fieldAt(service, "spec", "type") === "LoadBalancer";
  return new Map([
    [COUNT, amountOf(1)],
    ["services", amountOf(1)],
    ["services.loadbalancers", amountOf(balanced ? 1 : 0)],
    ["services.nodeports", amountOf(nodePortsOf(service))],
  ]);
}

/** Counted from the type and the ports: a new Service has no node port numbers yet. */
function nodePortsOf(service: KubeObject): number {
  const ports = itemsAt(service, "spec", "ports");
  switch (fieldAt(service, "spec", "type")) {
    case "NodePort":
      return ports.length;
    case "LoadBalancer":
      if (fieldAt(service, "spec", "allocateLoadBalancerNodePorts") !== false) return ports.length;
      return ports.filter((port) => (field(port, "nodePort") ?? 0) !== 0).length;
    default:
      return 0;
  }
}

/** The type of a Service as far as a quota counts it; "" for types that use nothing but a Service. */
export function quotaTypeOf(service: unknown): string {
  const type = fieldAt(service, "spec", "type");
  return type === "NodePort" || type === "LoadBalancer" ? type : "";
}
