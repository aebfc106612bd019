/** `spec.deploy` of a LatticeService: the rollout strategy. */
import * as z from "zod";
import { once } from "#base";
import { listOf, object } from "../collections.ts";
import { countOrPercent, dnsSubdomain, duration, integer, namespaceName, oneOf, text } from "../fields.ts";
import { withRules } from "../rules.ts";

const metric = () =>
  object("A metric that a canary must keep.", {
    name: text("Name: request-success-rate, request-duration, or that of a MetricTemplate.", 253),
    interval: duration("Window that the metric is taken over.").default("1m"),
    thresholdRange: object("Range the metric must stay in.", {
      min: z.number().describe("Lowest value.").optional(),
      max: z.number().describe("Highest value.").optional(),
    }).optional(),
    templateRef: object("MetricTemplate of Flagger that computes it; absent: one of Flagger's own.", {
      name: dnsSubdomain("Name of the MetricTemplate."),
      namespace: namespaceName("Namespace of the MetricTemplate.").optional(),
    }).optional(),
  });

const weight = (description: string) => integer(description, 1, 100);

const canary = () =>
  withRules(
    object("How a canary gets its traffic.", {
      interval: duration("Time between steps.").default("1m"),
      threshold: integer("Failed checks after which the canary is given up.", 1, 1_000).default(5),
      maxWeight: weight("Share of traffic, in percent, at which the canary has proved itself.").default(50),
      stepWeight: weight("Share of traffic, in percent, added with each step.").default(10),
      metrics: listOf("Metrics that the canary must keep; absent: success rate and duration of requests.", metric(), {
        max: 32,
        type: { keys: ["name"] },
      }).optional(),
    }),
    [
      {
        cel: "self.stepWeight <= self.maxWeight",
        message: "stepWeight must not be above maxWeight",
        field: ["stepWeight"],
        holds: ({ stepWeight, maxWeight }) => stepWeight <= maxWeight,
      },
    ],
  );

export type CanarySettings = z.output<ReturnType<typeof canary>>;

/** The settings of a service with `strategy: canary` and no canary block: the defaults of the block's schema. */
export function defaultCanary(): CanarySettings {
  return { ...canaryDefaults() };
}

const canaryDefaults = once(() => canary().parse({}));

export const deploy = () =>
  withRules(
    object("How a new version takes over.", {
      strategy: oneOf("rolling replaces pods bit by bit; canary sends it a growing share of the traffic first.", [
        "rolling",
        "canary",
      ]).default("rolling"),
      rolling: object("Limits while pods are replaced.", {
        maxSurge: countOrPercent("Pods above the wanted number.").optional(),
        maxUnavailable: countOrPercent("Pods below the wanted number.").optional(),
      }).optional(),
      canary: canary().optional(),
    }),
    [
      {
        cel: "!has(self.canary) || self.strategy == 'canary'",
        message: "is only for strategy canary; remove it, or set deploy.strategy to canary",
        field: ["canary"],
        reason: "FieldValueForbidden",
        holds: ({ canary: block, strategy }) => block === undefined || strategy === "canary",
      },
    ],
  );
