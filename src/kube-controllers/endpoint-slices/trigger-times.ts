/**
 * Since when a Service's endpoints are out of date: the earliest change, since the last pass, of the Service or a Pod's readiness. It is
 * written beside the endpoints so that users can measure the propagation delay.
 */
import type { Pod, Service } from "#kube";
import { podCondition } from "../pods/pod-status.ts";

export class TriggerTimes {
  readonly #known = new Map<string, { readonly service: string; readonly pods: ReadonlyMap<string, string> }>();

  /** Undefined: nothing with a timestamp has changed. */
  next(key: string, service: Service, pods: readonly Pod[]): string | undefined {
    const created = service.metadata.creationTimestamp ?? "";
    const times = new Map(pods.map((pod) => [pod.metadata.name, podCondition(pod, "Ready")?.lastTransitionTime ?? ""]));
    const before = this.#known.get(key);
    this.#known.set(key, { service: created, pods: times });
    if (before === undefined) return created === "" ? undefined : created;
    const changed = [...times].filter(([name, time]) => time > (before.pods.get(name) ?? "")).map(([, time]) => time);
    // timestamps without fractions, all in UTC: text order is time order
    return [...changed, ...(created > before.service ? [created] : [])].toSorted((a, b) => (a < b ? -1 : 1))[0];
  }

  forget(key: string): void {
    this.#known.delete(key);
  }
}
