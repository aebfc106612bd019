/** The context of the steps of a Deployment's pass: client, time, events. */
import { timestamp, type Clock } from "#base";
import type { KubeObject } from "#kube";
import type { KubeClient } from "#kube-client";
import type { KubeControllerContext } from "../../context.ts";
import type { RolloutTime } from "./rollout-status.ts";

export type DeploymentWork = {
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly tell: (regarding: KubeObject, reason: string, note: string) => void;
  readonly warn: (regarding: KubeObject, reason: string, note: string) => void;
};

export function deploymentWork({ client, clock, record }: KubeControllerContext): DeploymentWork {
  return {
    client,
    clock,
    tell: (regarding, reason, note) => record({ regarding, type: "Normal", reason, note }),
    warn: (regarding, reason, note) => record({ regarding, type: "Warning", reason, note }),
  };
}

export function rolloutTimeOf({ clock }: DeploymentWork): RolloutTime {
  return { now: clock.now(), nowText: timestamp(clock) };
}
