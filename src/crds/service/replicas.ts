/** The number of pods. `max` enables the autoscaler, which needs at least one pod. */
import { object } from "../collections.ts";
import { integer } from "../fields.ts";
import { withRules } from "../rules.ts";

const MOST_PODS = 10_000;

export const replicas = () =>
  withRules(
    object("How many pods.", {
      min: integer("Number of pods; with max, the fewest.", 0, MOST_PODS).default(1),
      max: integer("Most pods. Its presence makes a HorizontalPodAutoscaler.", 1, MOST_PODS).optional(),
    }),
    [
      {
        cel: "!has(self.max) || self.min <= self.max",
        message: "min must not be above max",
        field: ["min"],
        holds: ({ min, max }) => max === undefined || min <= max,
      },
      {
        cel: "!has(self.max) || self.min >= 1",
        message: "min must be at least 1 when max is set: an autoscaler cannot begin from none",
        field: ["min"],
        holds: ({ min, max }) => max === undefined || min >= 1,
      },
    ],
  );
