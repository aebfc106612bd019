/** The parts of an in-memory machine, in the order in which they start. Pure, apart from the time that it is given. */
import { parseDuration } from "#base";
import { no, yes, type ConditionDraft } from "../conditions.ts";
import { conditionOf, textAt, trueSince, type CapiObject } from "../objects.ts";

type Part = {
  readonly type: string;
  /** In `spec.backend.inMemory`. */
  readonly setting: string;
  /** Starts when these are provisioned. */
  readonly after: readonly string[];
};

const WORKER: readonly Part[] = [
  { type: "VMProvisioned", setting: "vm", after: [] },
  { type: "NodeProvisioned", setting: "node", after: ["VMProvisioned"] },
];
const CONTROL_PLANE: readonly Part[] = [
  ...WORKER,
  { type: "EtcdProvisioned", setting: "etcd", after: ["VMProvisioned", "NodeProvisioned"] },
  { type: "APIServerProvisioned", setting: "apiServer", after: ["VMProvisioned", "NodeProvisioned"] },
];
const STARTING = "WaitingForStartupTimeout";

export type StartInput = {
  readonly now: number;
  /** When the machine got its bootstrap data: the VM starts then. */
  readonly dataSince: number;
  readonly controlPlane: boolean;
  /** Why the VM is not created yet: a reason. */
  readonly waiting: string | undefined;
  /** Everything has run before: nothing takes time. */
  readonly bootstrapped: boolean;
};

export type StartedParts = {
  readonly conditions: readonly ConditionDraft[];
  readonly hasVm: boolean;
  readonly isComplete: boolean;
  /** When the next part has started. */
  readonly nextMs: number | undefined;
};

export function startParts(machine: CapiObject, input: StartInput): StartedParts {
  const conditions: ConditionDraft[] = [];
  const waits: number[] = [];
  const isProvisioned = (type: string) => conditions.some((one) => one.type === type && one.status === "True");
  for (const part of input.controlPlane ? CONTROL_PLANE : WORKER) {
    const missing = part.after.find((type) => !isProvisioned(type));
    const waiting = missing === undefined ? input.waiting : `WaitingFor${missing}`;
    const left = waiting === undefined ? timeLeft(machine, part, input) : 0;
    if (left > 0) waits.push(left);
    conditions.push(condition(part, waiting ?? (left > 0 ? STARTING : undefined)));
  }
  const isComplete = conditions.every(({ status }) => status === "True");
  return { conditions, hasVm: isProvisioned("VMProvisioned"), isComplete, nextMs: waits.length === 0 ? undefined : Math.min(...waits) };
}

const condition = ({ type }: Part, waiting: string | undefined) => (waiting === undefined ? yes(type, "Provisioned") : no(type, waiting));

function timeLeft(machine: CapiObject, part: Part, { now, dataSince, bootstrapped }: StartInput): number {
  if (bootstrapped || conditionOf(machine, part.type)?.status === "True") return 0;
  const duration = parseDuration(textAt(machine, "spec", "backend", "inMemory", part.setting, "provisioning", "startupDuration") ?? "0");
  const before = part.after.at(-1);
  // its own condition has no such time: a change of the reason alone is no transition
  const began = before === undefined ? dataSince : (trueSince(machine, before) ?? now);
  return began + (duration.ok ? duration.value : 0) - now;
}
