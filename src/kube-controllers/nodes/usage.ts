/**
 * The cpu and memory usage of Pods: no container runs, so it is declared. By annotation on the template
 * (`simulation.lattice.dev/usage-cpu: 250m`), or by `set`, which has precedence and applies to everything that a selector matches.
 */
import { matches, parseQuantity, parseSelector, quantityToNumber, type Container, type Pod, type Requirement } from "#kube";
import type { MetricsSource } from "../workloads/autoscaling/metrics-source.ts";
import { annotation } from "./faults/annotations.ts";

export type UsageTarget = { readonly namespace?: string; readonly selector?: string };
type Declared = { readonly on: UsageTarget; readonly selector: readonly Requirement[]; readonly usage: Readonly<Record<string, string>> };

export class DeclaredUsage implements MetricsSource {
  readonly #declared: Declared[] = [];

  /** "cpu: 250m" per Pod, shared evenly by its containers. False when the selector is invalid. */
  set(on: UsageTarget, usage: Readonly<Record<string, string>>): boolean {
    const selector = parseSelector(on.selector ?? "");
    if (!selector.ok) return false;
    this.#declared.unshift({ on, selector: selector.value, usage });
    return true;
  }

  /** In thousandths of the unit; undefined when it is not declared. */
  milliUsage(pod: Pod, resource: string, container?: string): number | undefined {
    const own = pod.spec.containers.filter(({ name }) => container === undefined || name === container);
    const text = this.#textFor(pod, resource);
    if (text !== undefined) return share(milli(text), own.length, pod.spec.containers.length);
    const amounts = own.map((one) => annotated(pod, one, resource));
    return amounts.every((amount) => amount === undefined) ? undefined : amounts.reduce<number>((sum, amount) => sum + (amount ?? 0), 0);
  }

  #textFor(pod: Pod, resource: string): string | undefined {
    const { namespace, labels } = pod.metadata;
    const found = this.#declared.find(({ on, selector, usage }) => {
      return (on.namespace === undefined || on.namespace === namespace) && matches(selector, labels) && Object.hasOwn(usage, resource);
    });
    return found?.usage[resource];
  }
}

function share(amount: number | undefined, own: number, all: number): number | undefined {
  return amount === undefined ? undefined : Math.round((amount * own) / Math.max(1, all));
}

/** Without a container's name the annotation applies to the whole Pod. */
function annotated(pod: Pod, container: Container, resource: string): number | undefined {
  const annotations = pod.metadata.annotations ?? {};
  const own = annotation(annotations, `usage-${resource}.${container.name}`);
  if (own !== undefined) return milli(own);
  const whole = annotation(annotations, `usage-${resource}`);
  return whole === undefined ? undefined : share(milli(whole), 1, pod.spec.containers.length);
}

function milli(text: string): number | undefined {
  const parsed = parseQuantity(text);
  return parsed.ok ? Math.ceil(quantityToNumber(parsed.value) * 1_000) : undefined;
}
