/** Quota usage of ResourceClaims: their number, and devices per device class. A request for "all devices" counts as the maximum. */
import { field } from "../json.ts";
import type { JsonObject } from "../json.ts";
import type { KubeObject } from "../object.ts";
import { addAmounts, amountOf, maxAmounts, NO_AMOUNTS, type Amounts } from "./amounts.ts";
import { countName, noRefusal, noScope, type QuotaEvaluator } from "./evaluator.ts";
import { itemsAt } from "./pod-resources.ts";

const COUNT = countName("resource.k8s.io", "resourceclaims");
const PER_CLASS = ".deviceclass.resource.k8s.io/devices";
const MOST_DEVICES = 32;

export const deviceClaimQuota: QuotaEvaluator = {
  group: "resource.k8s.io",
  plural: "resourceclaims",
  tracks: (name) => name === COUNT || name.endsWith(PER_CLASS),
  inScope: noScope,
  usage: (claim: KubeObject) =>
    itemsAt(claim, "spec", "devices", "requests").reduce<Amounts>(
      (sum, request) => addAmounts(sum, requestUsage(request)),
      new Map([[COUNT, amountOf(1)]]),
    ),
  refusal: noRefusal,
};

/** Of several alternatives, each class counts with its maximum. */
function requestUsage(request: JsonObject): Amounts {
  const choices = itemsAt(request, "firstAvailable");
  if (choices.length > 0) return choices.reduce<Amounts>((most, choice) => maxAmounts(most, devicesOf(choice)), NO_AMOUNTS);
  const exactly = field(request, "exactly");
  return exactly === undefined ? NO_AMOUNTS : devicesOf(exactly);
}

function devicesOf(request: unknown): Amounts {
  const name = field(request, "deviceClassName");
  const count = field(request, "count");
  const mode = field(request, "allocationMode");
  const devices = mode === "All" ? MOST_DEVICES : mode === "ExactCount" && typeof count === "number" ? count : 0;
  return new Map([[`${typeof name === "string" ? name : ""}${PER_CLASS}`, amountOf(devices)]]);
}
