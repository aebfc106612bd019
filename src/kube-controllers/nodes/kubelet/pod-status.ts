/** A Pod's status from the states of its containers: phase, conditions, addresses. Pure; reasons and messages are a kubelet's. */
import type { Container, ContainerStatus, Pod, PodCondition, PodPhase, PodStatus, TruthStatus } from "#kube";
import type { Circumstances } from "../faults/behaviour.ts";
import { containerStatus, timeText } from "./container-status.ts";
import { behaviourNow, roleOf, runOf, type PodRun } from "./pod-run.ts";

export type View = {
  readonly pod: Pod;
  readonly run: PodRun;
  readonly circumstances: Circumstances;
  readonly hostIP: string;
  readonly now: number;
};

/** `before`: the conditions as last written; their times stay if the status does. */
export function podStatus(view: View, before: readonly PodCondition[]): PodStatus {
  const { pod, run, hostIP, now, circumstances } = view;
  const statuses = (containers: readonly Container[] = []) => containers.map((container) => statusOf(view, container));
  const facts = {
    pod,
    inits: statuses(pod.spec.initContainers),
    mains: statuses(pod.spec.containers),
    ephemeral: statuses(pod.spec.ephemeralContainers),
    phase: phaseOf(pod, run),
    hasNetwork: now >= run.startedAt + circumstances.speeds.startMs,
    hostIP,
    podIP: run.podIP,
    startedAt: run.startedAt,
  };
  return composePodStatus(facts, before, now);
}

/** What the parts of a status are derived from. */
export type PodStatusFacts = {
  readonly pod: Pod;
  readonly inits: readonly ContainerStatus[];
  readonly mains: readonly ContainerStatus[];
  readonly ephemeral: readonly ContainerStatus[];
  readonly phase: PodPhase;
  readonly hasNetwork: boolean;
  readonly hostIP: string;
  /** Of a Pod that is not on the host's network. */
  readonly podIP: string;
  readonly startedAt: number;
};

export function composePodStatus(facts: PodStatusFacts, before: readonly PodCondition[], now: number): PodStatus {
  const { pod, inits, mains, ephemeral, phase, hasNetwork, hostIP, startedAt } = facts;
  const podIP = pod.spec.hostNetwork === true ? hostIP : facts.podIP;
  const { generation } = pod.metadata;
  return {
    ...(generation === undefined ? {} : { observedGeneration: generation }),
    phase,
    conditions: conditionsOf(facts).map((condition) => timed(condition, before, now, generation)),
    hostIP,
    hostIPs: [{ ip: hostIP }],
    ...(hasNetwork ? { podIP, podIPs: [{ ip: podIP }] } : {}),
    startTime: timeText(startedAt),
    ...(inits.length === 0 ? {} : { initContainerStatuses: inits }),
    containerStatuses: mains,
    ...(ephemeral.length === 0 ? {} : { ephemeralContainerStatuses: ephemeral }),
  };
}

function statusOf({ pod, run, circumstances, now }: View, container: Container): ContainerStatus {
  const behaviour = behaviourNow(pod, run, container, circumstances);
  const { speeds } = circumstances;
  return containerStatus({ pod, container, role: roleOf(pod, container), run: runOf(run, container), behaviour, speeds, now });
}

const isOver = (phase: PodPhase) => phase === "Succeeded" || phase === "Failed";

/** One container that has never run makes a Pod Pending, even if another runs: the kubelet checks in this order. */
export function phaseOf(pod: Pod, run: PodRun): PodPhase {
  const inits = (pod.spec.initContainers ?? [])
    .filter(({ restartPolicy }) => restartPolicy !== "Always")
    .map((container) => runOf(run, container));
  if (inits.some(({ stage, ended }) => stage === "over" && ended?.code !== 0)) return "Failed";
  if (inits.some(({ stage }) => stage !== "over")) return "Pending";
  const mains = pod.spec.containers.map((container) => runOf(run, container));
  if (mains.every(({ stage }) => stage === "over")) return mains.every(({ ended }) => ended?.code === 0) ? "Succeeded" : "Failed";
  return mains.some(({ stage, ended }) => stage !== "running" && ended === undefined) ? "Pending" : "Running";
}

type PodConditionDraft = { readonly type: string; readonly status: TruthStatus; readonly reason?: string; readonly message?: string };

function conditionsOf(facts: PodStatusFacts): readonly PodConditionDraft[] {
  const containers = containersReady(facts);
  const hasNetwork = facts.hasNetwork && !isOver(facts.phase);
  const network = { type: "PodReadyToStartContainers", status: hasNetwork ? "True" : "False" } as const;
  return [network, initialized(facts), podReady(facts, containers), { ...containers, type: "ContainersReady" }];
}

function initialized({ pod, inits, mains, phase }: PodStatusFacts): PodConditionDraft {
  const type = "Initialized";
  if (phase === "Succeeded") return { type, status: "True", reason: "PodCompleted" };
  if (mains.some(({ state, lastState }) => state?.waiting === undefined || lastState?.terminated !== undefined))
    return { type, status: "True" };
  const incomplete = (pod.spec.initContainers ?? []).flatMap((container, index) => {
    const status = inits[index];
    const done = container.restartPolicy === "Always" ? status?.started === true : status?.ready === true;
    return done ? [] : [container.name];
  });
  if (incomplete.length === 0) return { type, status: "True" };
  return {
    type,
    status: "False",
    reason: "ContainersNotInitialized",
    message: `containers with incomplete status: [${incomplete.join(" ")}]`,
  };
}

function containersReady({ pod, inits, mains, phase }: PodStatusFacts): PodConditionDraft {
  const type = "ContainersReady";
  if (phase === "Succeeded") return { type, status: "False", reason: "PodCompleted" };
  if (phase === "Failed") return { type, status: "False", reason: "PodFailed" };
  const sidecars = (pod.spec.initContainers ?? []).flatMap((container, index) =>
    container.restartPolicy === "Always" ? (inits[index] ?? []) : [],
  );
  const unready = [...sidecars, ...mains].filter(({ ready }) => !ready).map(({ name }) => name);
  if (unready.length === 0) return { type, status: "True" };
  return { type, status: "False", reason: "ContainersNotReady", message: `containers with unready status: [${unready.join(" ")}]` };
}

function podReady({ pod }: PodStatusFacts, containers: PodConditionDraft): PodConditionDraft {
  if (containers.status !== "True") return { ...containers, type: "Ready" };
  const complaints = (pod.spec.readinessGates ?? []).flatMap(({ conditionType }) => {
    const gate = pod.status?.conditions?.find(({ type }) => type === conditionType);
    if (gate === undefined) return [`corresponding condition of pod readiness gate "${conditionType}" does not exist.`];
    return gate.status === "True" ? [] : [`the status of pod readiness gate "${conditionType}" is not "True", but ${gate.status}`];
  });
  if (complaints.length === 0) return { type: "Ready", status: "True" };
  return { type: "Ready", status: "False", reason: "ReadinessGatesNotReady", message: complaints.join(", ") };
}

function timed(draft: PodConditionDraft, before: readonly PodCondition[], now: number, generation: number | undefined): PodCondition {
  const known = before.find(({ type }) => type === draft.type);
  const lastTransitionTime = known?.status === draft.status ? (known.lastTransitionTime ?? timeText(now)) : timeText(now);
  return { ...draft, lastTransitionTime, ...(generation === undefined ? {} : { observedGeneration: generation }) };
}
