/** Writes the EndpointSlices of Services with a selector. The garbage collector deletes them: a Service owns its slices. */
import { ok, type Result } from "#base";
import {
  endpointSlices,
  keyText,
  nodes,
  parseKey,
  pods as podKind,
  services as serviceKind,
  type EndpointSlice,
  type Service,
} from "#kube";
import type { KubeError } from "#kube-client";
import type { KubeController, KubeControllerContext } from "../context.ts";
import { isNobodysFault } from "../service-accounts/default-account.ts";
import { again, done, failed, passOf, type Pass } from "../work.ts";
import { SliceExpectations } from "./expectations.ts";
import { isSelecting, TRIGGER_TIME_ANNOTATION } from "./services.ts";
import { MANAGED_BY, MANAGED_BY_LABEL, planSlices, SERVICE_NAME_LABEL, type SlicePlan } from "./plan-slices.ts";
import { selectsPod } from "./pod-endpoints.ts";
import { followServices } from "./services-of-pods.ts";
import { TriggerTimes } from "./trigger-times.ts";

export const endpointSliceController: KubeController = {
  name: "endpointslice-controller",
  start: (context) => new EndpointSlices(context).start(),
};

const BY_SERVICE = "slices of a Service";
const BACKOFF = { initialMs: 1_000, maxMs: 1_000_000, factor: 2 };

class EndpointSlices {
  readonly #context: KubeControllerContext;
  readonly #expectations: SliceExpectations;
  readonly #triggerTimes = new TriggerTimes();
  /** Services with Pods on unknown nodes. */
  readonly #skipped = new Set<string>();
  /** Services whose pass found our last writes missing in the cache; their watch events trigger them again. */
  readonly #waiting = new Set<string>();

  constructor(context: KubeControllerContext) {
    this.#context = context;
    this.#expectations = new SliceExpectations(context.clock);
  }

  start(): void {
    const { informers } = this.#context;
    const queue = this.#context.work({ name: "endpoint-slices", backoff: BACKOFF, pass: (key, signal) => this.#pass(key, signal) });
    informers.of(endpointSlices).addIndex(BY_SERVICE, (slice) => [serviceOf(slice) ?? []].flat());
    followServices(this.#context, queue);
    informers.subscribe(endpointSlices, (change) => {
      const services = new Set([change.before, change.after].map((slice) => (slice === undefined ? undefined : serviceOf(slice))));
      for (const service of services) {
        if (service === undefined) continue;
        const ours = this.#expectations.isOurs(service, change);
        if (!ours || this.#waiting.has(service)) queue.add(service);
      }
    });
    informers.subscribe(nodes, ({ before, after }) => {
      // Pods had to be left out because their node did not exist
      if (before === undefined || after === undefined) for (const key of this.#skipped) queue.add(key);
    });
  }

  async #pass(key: string, signal: AbortSignal): Promise<Pass> {
    const { informers } = this.#context;
    const service = informers.of(serviceKind).get(parseKey(key));
    this.#skipped.delete(key);
    if (service === undefined) this.#forget(key);
    if (service === undefined || !isSelecting(service)) return done;
    this.#waiting.delete(key);
    const behindMs = this.#expectations.behindMs(key);
    if (behindMs > 0) {
      this.#waiting.add(key);
      return again(behindMs);
    }
    const pods = informers
      .of(podKind)
      .list(service.metadata.namespace)
      .filter((pod) => selectsPod(service, pod));
    const slices = informers
      .of(endpointSlices)
      .byIndex(BY_SERVICE, key)
      .filter(({ metadata }) => metadata.deletionTimestamp === undefined);
    const nodeOf = (name: string) => informers.of(nodes).get({ name });
    const plan = planSlices({ service, pods, nodeOf }, slices);
    const written = await this.#write(key, service, withTriggerTime(plan, this.#triggerTimes.next(key, service, pods)), signal);
    if (!written.ok) return this.#failed(service, written.error);
    if (plan.skipped.length === 0) return done;
    this.#skipped.add(key);
    return failed(plan.skipped.join(", "));
  }

  async #write(
    key: string,
    service: Service,
    { create, update, remove }: SlicePlan,
    signal: AbortSignal,
  ): Promise<Result<void, KubeError>> {
    const { client } = this.#context;
    // a terminating Service gets no new slices: the garbage collector would have to delete them too
    for (const slice of service.metadata.deletionTimestamp === undefined ? create : []) {
      const answer = await client.create(endpointSlices, withoutName(slice), { signal });
      if (!answer.ok) return isNobodysFault(answer.error) ? ok(undefined) : answer;
      this.#expectations.written(key, answer.value, this.#seen(answer.value));
    }
    for (const slice of update) {
      const answer = await client.update(endpointSlices, slice, { signal });
      if (!answer.ok) return answer;
      if (answer.value.metadata.resourceVersion !== slice.metadata.resourceVersion)
        this.#expectations.written(key, answer.value, this.#seen(answer.value));
    }
    for (const slice of remove) {
      const { namespace, name } = slice.metadata;
      const answer = await client.delete(endpointSlices, { namespace, name }, { signal });
      if (!answer.ok) return answer;
      if (answer.value) this.#expectations.removed(key, slice, this.#seen(slice));
    }
    return ok(undefined);
  }

  #failed(service: Service, error: KubeError): Pass {
    if (error.kind !== "conflict") {
      const { namespace, name } = service.metadata;
      const note = `Error updating Endpoint Slices for Service ${namespace}/${name}: ${error.message}`;
      this.#context.record({ regarding: service, type: "Warning", reason: "FailedToUpdateEndpointSlices", note });
    }
    return error.kind === "not-found" ? failed(error.message) : passOf({ ok: false, error });
  }

  #seen({ metadata: { namespace, name } }: EndpointSlice): EndpointSlice | undefined {
    return this.#context.informers.of(endpointSlices).get({ namespace, name });
  }

  #forget(key: string): void {
    this.#waiting.delete(key);
    this.#expectations.forget(key);
    this.#triggerTimes.forget(key);
  }
}

function serviceOf({ metadata }: EndpointSlice): string | undefined {
  const { [MANAGED_BY_LABEL]: manager, [SERVICE_NAME_LABEL]: name = "" } = metadata.labels ?? {};
  return manager === MANAGED_BY && name !== "" ? keyText({ namespace: metadata.namespace, name }) : undefined;
}

function withTriggerTime(plan: SlicePlan, time: string | undefined): SlicePlan {
  const stamped = (slice: EndpointSlice): EndpointSlice => {
    const { [TRIGGER_TIME_ANNOTATION]: _old, ...rest } = slice.metadata.annotations ?? {};
    const annotations = time === undefined ? rest : { ...rest, [TRIGGER_TIME_ANNOTATION]: time };
    return { ...slice, metadata: { ...slice.metadata, annotations } };
  };
  return { ...plan, create: plan.create.map(stamped), update: plan.update.map(stamped) };
}

/** The server generates the name from `generateName` only if there is none. */
function withoutName(slice: EndpointSlice): EndpointSlice {
  const { name: _name, ...metadata } = slice.metadata;
  return { ...slice, metadata: metadata as EndpointSlice["metadata"] };
}
