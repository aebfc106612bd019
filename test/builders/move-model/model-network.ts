/**
 * What is between a process that moves and the two API servers: requests take time, are lost, repeated, delayed beyond the life of their
 * process, or not answered. A request counts when it arrives.
 */
import { err, ok, type Result } from "#base";
import type { KubeObject, Resource } from "#kube";
import type { CallOptions, ClientResult, KubeClient, KubeError } from "#kube-client";
import type { ModelServer } from "./model-server.ts";
import { ProcessClock, type VirtualTime } from "./virtual-time.ts";

export type Side = "a" | "b";
export type Executed = { readonly side: Side; readonly text: string; readonly isWrite: boolean };
/** What happens to requests of a process that is killed. */
export type Fate = "lost" | "done" | "late";

type Request = Executed & {
  readonly process: ModelProcess;
  readonly execute: () => Result<unknown, KubeError>;
  readonly settle: (answer: Result<unknown, KubeError>) => void;
  gone: boolean;
};

export type Fault = { readonly kind: "drop" | "lose" } | { readonly kind: "repeat" | "slow"; readonly by: number };

/** A program that moves. When it is dead, no promise of it is settled any more. */
export class ModelProcess {
  dead = false;
  result: string | undefined;
  readonly clock: ProcessClock;
  readonly label: string;
  /** Ctrl-C. */
  readonly stop = new AbortController();

  constructor(label: string, time: VirtualTime) {
    this.label = label;
    this.clock = new ProcessClock(time, () => this.dead);
  }

  get isAlive(): boolean {
    return !this.dead && this.result === undefined;
  }
}

/** Kills a process when it sends a request with this text for the `left`th time. */
export type Trap = { readonly process: ModelProcess; readonly text: string; readonly fate: Fate; readonly by: number; left: number };

const DEFAULT_LIMIT_MS = 30_000;
const broken = err({ kind: "network" as const, message: "connection reset" });

export class ModelNetwork {
  /** Requests that have arrived. */
  arrived = 0;
  readonly faults: Fault[] = [];
  trap: Trap | undefined;
  readonly unreachable = new Map<Side, number>();
  readonly #time: VirtualTime;
  readonly #servers: Readonly<Record<Side, ModelServer>>;
  readonly #onExecuted: (executed: Executed) => void;
  readonly #pending = new Set<Request>();
  #late: { left: number; readonly request: Request }[] = [];

  constructor(time: VirtualTime, servers: Readonly<Record<Side, ModelServer>>, onExecuted: (executed: Executed) => void) {
    this.#time = time;
    this.#servers = servers;
    this.#onExecuted = onExecuted;
  }

  kill(process: ModelProcess, fate: Fate, by: number): void {
    process.dead = true;
    for (const request of [...this.#pending].filter((one) => one.process === process)) {
      this.#pending.delete(request);
      request.gone = true;
      if (fate === "late" && request.isWrite) this.#late.push({ left: by, request });
      if (fate === "done") this.#execute(request);
    }
  }

  /** Connections of a server that restarts: `executed`: its requests were executed, and only the answers are lost. */
  restart(side: Side, executed: boolean): void {
    for (const request of [...this.#pending].filter((one) => one.side === side)) {
      this.#pending.delete(request);
      request.gone = true;
      if (executed) this.#execute(request);
      request.settle(broken);
    }
  }

  deliverLate(): void {
    for (const { request } of this.#late.splice(0)) this.#execute(request);
  }

  client(side: Side, process: ModelProcess): KubeClient {
    const server = this.#servers[side];
    const send = <T>(
      text: string,
      isWrite: boolean,
      options: CallOptions | undefined,
      execute: () => Result<T, KubeError>,
    ): ClientResult<T> => this.#send({ side, text, isWrite, process, execute }, options) as ClientResult<T>;
    const managed = (options: { readonly fieldManager?: string } | undefined) => options?.fieldManager ?? "test";
    const settingsOf = (options: { readonly fieldManager?: string; readonly subresource?: string } | undefined) => ({
      manager: managed(options),
      ...(options?.subresource === undefined ? {} : { subresource: options.subresource }),
    });
    const absent = () => Promise.resolve(err({ kind: "bad-request" as const, message: "not in the model" }));
    const client = {
      get: (resource, name, options) => send(`get ${resource.plural}/${name.name}`, false, options, () => server.get(resource, name)),
      list: (resource, query, options) =>
        send(`list ${resource.plural} in ${query?.namespace} ${query?.labelSelector ?? ""}`.trim(), false, options, () =>
          server.list(resource, query),
        ),
      create: (resource, object, options) =>
        send(`create ${resource.plural}/${object.metadata.name}`, true, options, () =>
          shown(resource, server.create(resource, object, managed(options))),
        ),
      update: (resource, object, options) =>
        send(`update ${resource.plural}/${object.metadata.name}`, true, options, () =>
          shown(resource, server.update(resource, object, settingsOf(options))),
        ),
      patch: (resource, name, body, options) =>
        send(`patch ${resource.plural}/${name.name}`, true, options, () =>
          shown(resource, server.patch(resource, name, body.type === "merge" ? body.patch : {}, settingsOf(options))),
        ),
      delete: (resource, name, options) =>
        send(`delete ${resource.plural}/${name.name}`, true, options, () => server.delete(resource, name, options)),
      apply: absent,
      deleteCollection: absent,
      raw: absent,
      watch: () => ({ [Symbol.asyncIterator]: () => ({ next: () => Promise.resolve({ done: true as const, value: undefined }) }) }),
      close: () => Promise.resolve(),
    } as ModelClient;
    return client as unknown as KubeClient;
  }

  #send(
    what: Omit<Request, "settle" | "gone">,
    { signal, timeoutMs = DEFAULT_LIMIT_MS, mayLeave }: CallOptions = {},
  ): Promise<Result<unknown, KubeError>> {
    const { process } = what;
    if (process.dead) return new Promise(() => {});
    if (signal?.aborted === true || mayLeave?.() === false)
      return Promise.resolve(err({ kind: "cancelled", message: "not sent", retry: "safe" }));
    return new Promise((resolve) => {
      const settle = (answer: Result<unknown, KubeError>) => {
        cancelTimer();
        signal?.removeEventListener("abort", onAbort);
        if (!process.dead) resolve(answer);
      };
      const request: Request = { ...what, settle, gone: false };
      const onAbort = () => settle(err({ kind: "cancelled", message: "the call was cancelled" }));
      signal?.addEventListener("abort", onAbort, { once: true });
      const cancelTimer = process.clock.after(timeoutMs, () => settle(err({ kind: "timeout", message: "no answer" })));
      this.#pending.add(request);
      this.#time.after(1, () => this.#arrive(request));
    });
  }

  #arrive(request: Request): void {
    if (request.gone) return;
    const fault = this.faults.shift();
    if (fault?.kind === "slow") return void this.#time.after(fault.by, () => this.#arrive(request));
    if (this.#isTrapped(request)) return;
    this.#pending.delete(request);
    request.gone = true;
    this.#count();
    const cut = this.unreachable.get(request.side) ?? 0;
    if (cut > 0) this.unreachable.set(request.side, cut - 1);
    if (cut > 0 || fault?.kind === "drop") return request.settle(broken);
    const answer = this.#execute(request);
    if (fault?.kind === "repeat") this.#late.push({ left: fault.by, request });
    request.settle(fault?.kind === "lose" ? broken : answer);
  }

  #isTrapped({ process, text, side }: Request): boolean {
    const { trap } = this;
    if (trap === undefined || trap.process !== process || !`${text} at ${side}`.includes(trap.text) || (trap.left -= 1) > 0) return false;
    this.trap = undefined;
    this.kill(process, trap.fate, trap.by);
    return true;
  }

  #count(): void {
    this.arrived += 1;
    for (const one of this.#late) one.left -= 1;
    const due = this.#late.filter(({ left }) => left <= 0);
    this.#late = this.#late.filter(({ left }) => left > 0);
    for (const { request } of due) this.#execute(request);
  }

  #execute(request: Request): Result<unknown, KubeError> {
    const answer = request.execute();
    const { side, isWrite, text, process } = request;
    this.#onExecuted({ side, isWrite, text: `${process.label}: ${text} at ${side}${answer.ok ? "" : ` (${answer.error.kind})`}` });
    return answer;
  }
}

/** As a server answers a client that asks for metadata only. */
function shown(resource: Resource, answer: Result<KubeObject, KubeError>): Result<KubeObject, KubeError> {
  if (!answer.ok || resource.view !== "metadata") return answer;
  const { apiVersion, kind, metadata } = answer.value;
  return ok({ apiVersion, kind, metadata });
}

/** The calls of a client, without type parameters. */
type ModelClient = {
  readonly [Verb in "get" | "list" | "create" | "update" | "patch" | "delete"]: (
    ...call: Parameters<KubeClient[Verb]>
  ) => ClientResult<unknown>;
} & Record<"apply" | "deleteCollection" | "raw" | "watch" | "close", unknown>;
