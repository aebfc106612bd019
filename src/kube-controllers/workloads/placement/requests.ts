/**
 * The requests of a Pod: the sum over its containers, or the largest init container if that is more. Sidecars run in parallel to everything
 * that comes after them, so they count in both.
 */
import { memoizeByObject } from "#base";
import { addQuantities, parseQuantity, type Container, type Pod, type Quantity, type ResourceList } from "#kube";

export type ResourceAmounts = ReadonlyMap<string, Quantity>;

export function podRequests({ spec }: Pod): ResourceAmounts {
  return specRequests(spec);
}

/** Cached: the scheduler adds up the same Pods on every pass. */
const specRequests = memoizeByObject((spec: Pod["spec"]): ResourceAmounts => {
  let sidecars: ResourceAmounts = new Map();
  let greatestInit: ResourceAmounts = new Map();
  for (const container of spec.initContainers ?? []) {
    const asked = amounts(container.resources?.requests);
    if (container.restartPolicy === "Always") sidecars = plus(sidecars, asked);
    greatestInit = greater(greatestInit, container.restartPolicy === "Always" ? sidecars : plus(sidecars, asked));
  }
  const together = spec.containers.reduce((sum, container) => plus(sum, requestsOf(container)), sidecars);
  return plus(greater(together, greatestInit), amounts(spec.overhead));
});

function requestsOf({ resources }: Container): ResourceAmounts {
  return amounts(resources?.requests);
}

/** An invalid quantity counts as 0: the server rejects it. */
export function amounts(list: ResourceList | undefined): ResourceAmounts {
  return new Map(
    Object.entries(list ?? {}).flatMap(([name, text]) => {
      const parsed = parseQuantity(text);
      return parsed.ok ? [[name, parsed.value] as const] : [];
    }),
  );
}

function plus(a: ResourceAmounts, b: ResourceAmounts): ResourceAmounts {
  if (b.size === 0) return a;
  const sum = new Map(a);
  for (const [name, amount] of b) {
    const before = sum.get(name);
    sum.set(name, before === undefined ? amount : addQuantities(before, amount));
  }
  return sum;
}

function greater(a: ResourceAmounts, b: ResourceAmounts): ResourceAmounts {
  const result = new Map(a);
  for (const [name, amount] of b) {
    const other = result.get(name);
    if (other === undefined || other < amount) result.set(name, amount);
  }
  return result;
}
