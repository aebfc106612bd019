/**
 * Writes the Endpoints of Services with a selector: the API before EndpointSlices, which some clients still read. It has one address family and
 * no terminating Pods.
 *
 * Endpoints have no owner reference: they are deleted here with their Service, also if it was deleted while the controller was stopped.
 */
import type { WorkQueue } from "#controller-runtime";
import {
  endpoints as endpointsKind,
  jsonEqual,
  keyOf,
  keyText,
  parseKey,
  pods as podKind,
  services,
  type Endpoints,
  type ObjectKey,
  type Service,
} from "#kube";
import type { KubeController, KubeControllerContext } from "../context.ts";
import { isNobodysFault } from "../service-accounts/default-account.ts";
import { done, passOf, type Pass } from "../work.ts";
import { hasAddress, HEADLESS_LABEL, isSelecting, TRIGGER_TIME_ANNOTATION } from "./services.ts";
import { selectsPod } from "./pod-endpoints.ts";
import { followServices } from "./services-of-pods.ts";
import { sameSubsets, subsetsOf, truncated } from "./subsets.ts";
import { TriggerTimes } from "./trigger-times.ts";

export const endpointsController: KubeController = {
  name: "endpoints-controller",
  start: (context) => new EndpointsOfServices(context).start(),
};

const MANAGED_BY_LABEL = "endpoints.kubernetes.io/managed-by";
const MANAGED_BY = "endpoint-controller";
const OVER_CAPACITY = "endpoints.kubernetes.io/over-capacity";
/** Old leader elections use Endpoints without a Service. */
const LEADER = "control-plane.alpha.kubernetes.io/leader";

class EndpointsOfServices {
  readonly #context: KubeControllerContext;
  readonly #triggerTimes = new TriggerTimes();

  constructor(context: KubeControllerContext) {
    this.#context = context;
  }

  start(): void {
    const { informers } = this.#context;
    const queue = this.#context.work({ name: "endpoints", pass: (key, signal) => this.#pass(key, signal) });
    followServices(this.#context, queue);
    informers.subscribe(endpointsKind, ({ key, after }) => {
      if (after === undefined) queue.add(keyText(key));
    });
    // only once: Endpoints without a Service that exist later were created by a user, and stay
    const leftOver = this.#context.work({
      name: "endpoints-left-over",
      concurrency: 1,
      pass: () => Promise.resolve(this.#leftOver(queue)),
    });
    leftOver.add("all");
  }

  #leftOver(queue: WorkQueue): Pass {
    for (const endpoints of this.#context.informers.of(endpointsKind).list()) {
      if (endpoints.metadata.annotations?.[LEADER] === undefined) queue.add(keyText(keyOf(endpoints)));
    }
    return done;
  }

  async #pass(text: string, signal: AbortSignal): Promise<Pass> {
    const { informers, client } = this.#context;
    const key = parseKey(text);
    const service = informers.of(services).get(key);
    const current = informers.of(endpointsKind).get(key);
    if (service === undefined) return this.#serviceGone(key, signal);
    if (!isSelecting(service)) return done;
    const pods = informers
      .of(podKind)
      .list(key.namespace)
      .filter((pod) => selectsPod(service, pod));
    const subsets = subsetsOf(service, pods);
    const time = this.#triggerTimes.next(text, service, pods);
    const fitting = truncated(subsets);
    if (current !== undefined && isAsWanted(current, service, { subsets: fitting ?? subsets, over: fitting !== undefined })) return done;
    const next = endpointsOf(current, service, { time, subsets: fitting ?? subsets, over: fitting !== undefined });
    const answer =
      current === undefined ? await client.create(endpointsKind, next, { signal }) : await client.update(endpointsKind, next, { signal });
    return !answer.ok && current === undefined && isNobodysFault(answer.error) ? done : passOf(answer);
  }

  async #serviceGone(key: ObjectKey, signal: AbortSignal): Promise<Pass> {
    this.#triggerTimes.forget(keyText(key));
    // also when the cache has none: they may have been created just now
    return passOf(await this.#context.client.delete(endpointsKind, key, { signal }));
  }
}

type Wanted = { readonly subsets: NonNullable<Endpoints["subsets"]>; readonly over: boolean };

function isAsWanted({ subsets, metadata }: Endpoints, service: Service, wanted: Wanted): boolean {
  const overCapacity = metadata.annotations?.[OVER_CAPACITY] !== undefined;
  return sameSubsets(subsets ?? [], wanted.subsets) && jsonEqual(metadata.labels, labelsOf(service)) && overCapacity === wanted.over;
}

function endpointsOf(
  current: Endpoints | undefined,
  service: Service,
  { subsets, over, time }: Wanted & { time: string | undefined },
): Endpoints {
  const { name, namespace = "" } = service.metadata;
  const { [TRIGGER_TIME_ANNOTATION]: _time, [OVER_CAPACITY]: _over, ...kept } = current?.metadata.annotations ?? {};
  const annotations = {
    ...kept,
    ...(time === undefined ? {} : { [TRIGGER_TIME_ANNOTATION]: time }),
    ...(over ? { [OVER_CAPACITY]: "truncated" } : {}),
  };
  const metadata = { ...(current?.metadata ?? { name, namespace }), annotations, labels: labelsOf(service) };
  return { apiVersion: "v1", kind: "Endpoints", metadata, subsets };
}

function labelsOf(service: Service): Readonly<Record<string, string>> {
  const { [HEADLESS_LABEL]: _headless, ...labels } = service.metadata.labels ?? {};
  return { ...labels, ...(hasAddress(service) ? {} : { [HEADLESS_LABEL]: "" }), [MANAGED_BY_LABEL]: MANAGED_BY };
}
