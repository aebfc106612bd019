/** Whether a machine is healthy, by the checks of a MachineHealthCheck. Pure, apart from the time that it is given. */
import type { JsonObject, Node } from "#kube";
import { REMEDIATE_ANNOTATION } from "../names.ts";
import { conditionOf, isControlPlane, isTrue, listAt, nodeNameOf, numberAt, textAt, trueSince, type CapiObject } from "../objects.ts";

export type HealthVerdict =
  | { readonly kind: "healthy" }
  /** It becomes unhealthy after this time, unless something changes; until then it does not count as healthy. */
  | { readonly kind: "pending"; readonly afterMs: number }
  /** Nothing is known yet: there is no Node, and none is expected. */
  | { readonly kind: "unchecked" }
  | { readonly kind: "unhealthy"; readonly reason: string; readonly message: string };

export type HealthInput = {
  readonly machine: CapiObject;
  readonly node: Node | undefined;
  readonly cluster: CapiObject;
  /** `spec.checks`. */
  readonly checks: JsonObject;
  readonly now: number;
};

const HEALTHY: HealthVerdict = { kind: "healthy" };
const UNCHECKED: HealthVerdict = { kind: "unchecked" };

export function judge(input: HealthInput): HealthVerdict {
  const { machine } = input;
  if (Object.hasOwn(machine.metadata.annotations ?? {}, REMEDIATE_ANNOTATION)) {
    const message = `Health check failed: marked for remediation via ${REMEDIATE_ANNOTATION} annotation`;
    return { kind: "unhealthy", reason: "HasRemediateAnnotation", message };
  }
  if (!isEvaluated(input)) return input.node === undefined ? UNCHECKED : HEALTHY;
  const name = nodeNameOf(machine);
  if (name !== undefined && input.node === undefined) return failed("NodeDeleted", [`Node ${name} has been deleted`]);
  if (input.node === undefined) return startup(input);
  return conditions(input, input.node);
}

/** Workers are judged once the control plane is initialized, and none before the infrastructure of the cluster is ready. */
const isEvaluated = ({ machine, cluster }: HealthInput): boolean =>
  (isControlPlane(machine) || isTrue(cluster, "ControlPlaneInitialized")) && isTrue(cluster, "InfrastructureReady");

const failed = (reason: string, messages: readonly string[]): HealthVerdict => ({
  kind: "unhealthy",
  reason,
  message: `Health check failed:\n${messages.map((one) => `  * ${one}`).join("\n")}`,
});

/** The time for a Node to appear begins when the cluster could have one. */
function startup({ machine, cluster, checks, now }: HealthInput): HealthVerdict {
  const seconds = numberAt(checks, "nodeStartupTimeoutSeconds") ?? 600;
  if (seconds === 0) return UNCHECKED;
  const times = [
    Date.parse(machine.metadata.creationTimestamp ?? ""),
    trueSince(cluster, "ControlPlaneInitialized"),
    trueSince(cluster, "InfrastructureReady"),
    trueSince(machine, "InfrastructureReady"),
  ];
  const since = Math.max(...times.filter((time) => time !== undefined && !Number.isNaN(time)).map(Number));
  const left = since + seconds * 1_000 - now;
  return left > 0
    ? { kind: "pending", afterMs: left }
    : failed("NodeStartupTimeout", [`Node failed to report startup in ${goSeconds(seconds)}`]);
}

function conditions({ machine, checks, now }: HealthInput, node: Node): HealthVerdict {
  const onMachine = overdue(listAt(checks, "unhealthyMachineConditions"), (type) => conditionOf(machine, type), now, "Machine");
  const onNode = overdue(
    listAt(checks, "unhealthyNodeConditions"),
    (type) => node.status?.conditions?.find((one) => one.type === type),
    now,
    "Node",
  );
  const messages = [...onMachine.messages, ...onNode.messages];
  if (messages.length > 0) return failed(onMachine.messages.length > 0 ? "UnhealthyMachine" : "UnhealthyNode", messages);
  const waits = [onMachine.nextMs, onNode.nextMs].filter((ms) => ms !== undefined);
  return waits.length === 0 ? HEALTHY : { kind: "pending", afterMs: Math.min(...waits) };
}

type Reported = { readonly status: string; readonly reason?: string; readonly lastTransitionTime?: string };
type Overdue = { readonly messages: readonly string[]; readonly nextMs: number | undefined };

function overdue(rules: readonly unknown[], find: (type: string) => Reported | undefined, now: number, of: string): Overdue {
  const messages: string[] = [];
  let nextMs: number | undefined;
  for (const rule of rules) {
    const [type = "", status, seconds = 0] = [textAt(rule, "type"), textAt(rule, "status"), numberAt(rule, "timeoutSeconds")];
    const found = find(type);
    if (found === undefined || found.status !== status) continue;
    const left = Date.parse(found.lastTransitionTime ?? "") + seconds * 1_000 - now;
    if (left > 0) nextMs = Math.min(nextMs ?? left, left);
    else
      messages.push(
        `Condition ${type} on ${of} is reporting status ${status} with reason ${found.reason ?? ""} for more than ${goSeconds(seconds)}`,
      );
  }
  return { messages, nextMs };
}

/** As Go prints a duration: 5m0s. */
function goSeconds(seconds: number): string {
  const [hours, minutes, rest] = [Math.floor(seconds / 3600), Math.floor((seconds % 3600) / 60), seconds % 60];
  return `${hours > 0 ? `${hours}h` : ""}${hours > 0 || minutes > 0 ? `${minutes}m` : ""}${rest}s`;
}
