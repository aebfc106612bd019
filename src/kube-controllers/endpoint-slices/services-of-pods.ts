/** Queues a Service when it changes, and when a Pod that it selects, or selected, changes in a way that is visible in its endpoints. */
import type { WorkQueue } from "#controller-runtime";
import { keyOf, keyText, pods as podKind, services as serviceKind } from "#kube";
import type { KubeControllerContext } from "../context.ts";
import { isSelecting } from "./services.ts";
import { endpointChanged, selectsPod } from "./pod-endpoints.ts";

export function followServices({ informers }: KubeControllerContext, queue: WorkQueue): void {
  const services = informers.of(serviceKind);
  informers.subscribe(serviceKind, ({ key }) => queue.add(keyText(key)));
  informers.subscribe(podKind, ({ key, before, after }) => {
    if (!endpointChanged(before, after)) return;
    const pods = [before, after].filter((pod) => pod !== undefined);
    for (const service of services.list(key.namespace)) {
      if (isSelecting(service) && pods.some((pod) => selectsPod(service, pod))) queue.add(keyText(keyOf(service)));
    }
  });
}
