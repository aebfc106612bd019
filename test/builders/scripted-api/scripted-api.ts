/**
 * A small API server in memory whose failures are scripted. For tests of clients, informers, queues and apply engines.
 *
 * It is not the embedded API server: no validation, no schemas, no admission, and server-side apply is a model (see
 * ownership.ts). Every kind exists, every kind has a status, and namespaces need not be created.
 */
import { err, ok, seededRandom, sleep, type Clock, type Result } from "#base";
import { keyOf, keyText, type KubeObject, type ObjectKey, type Resource } from "#kube";
import type { KubeError, Transport, TransportAnswer, TransportRequest } from "#kube-client";
import { Faults, type RequestFault, type StreamFault } from "./faults.ts";
import { Ownership } from "./ownership.ts";
import { parseRequest, selectionOf, type ParsedRequest } from "./request.ts";
import { answerOf, refuse, statusOf, type Outcome } from "./status-answer.ts";
import { Store, type StoredObject } from "./store.ts";
import { Verbs } from "./verbs.ts";
import { WatchStream } from "./watch-stream.ts";

export type LogEntry = {
  readonly at: number;
  readonly method: string;
  readonly path: string;
  /** What the server answered, whether or not the answer arrived; 0 when the request never did. */
  readonly code: number;
  readonly actor: string;
  readonly fault?: string;
};

type Sent = Result<TransportAnswer, KubeError>;

export class ScriptedApi {
  readonly faults: Faults;
  readonly #clock: Clock;
  readonly #store: Store;
  readonly #verbs: Verbs;
  readonly #watches = new Set<WatchStream>();
  readonly #log: LogEntry[] = [];

  constructor(options: { clock: Clock; random?: () => number }) {
    this.#clock = options.clock;
    this.#store = new Store(options.clock);
    this.#verbs = new Verbs(this.#store);
    this.faults = new Faults(options.random ?? seededRandom(1));
  }

  /** For `createKubeClient`. Its requests keep whatever User-Agent they carry. */
  get transport(): Transport {
    return this.#transport(undefined);
  }

  /** A transport whose requests are this actor's. */
  transportFor(actor: string): Transport {
    return this.#transport(actor);
  }

  get log(): readonly LogEntry[] {
    return this.#log;
  }

  get openWatches(): number {
    return this.#watches.size;
  }

  get resourceVersion(): string {
    return String(this.#store.revision);
  }

  objects<T extends KubeObject>(resource: Resource<T>): readonly T[] {
    return this.#store.list(collectionOf(resource)) as readonly KubeObject[] as readonly T[];
  }

  object<T extends KubeObject>(resource: Resource<T>, key: ObjectKey): T | undefined {
    return this.#store.find(collectionOf(resource), keyText(key))?.object as KubeObject as T | undefined;
  }

  /** Somebody else creates or replaces an object, status and all. No conflict, no fault. */
  put<T extends KubeObject>(resource: Resource<T>, object: T, actor = "someone-else"): T {
    const collection = collectionOf(resource);
    const found = this.#store.find(collection, keyText(keyOf(object)));
    const write = {
      object: object as KubeObject as StoredObject,
      ownership: (found?.ownership ?? new Ownership()).updated(found?.object, object, actor),
    };
    const stored = found === undefined ? this.#store.create(collection, write) : this.#store.replace(collection, found.object, write);
    return stored as KubeObject as T;
  }

  /** Somebody else deletes an object; finalizers hold it as they do. */
  remove(resource: Resource, key: ObjectKey): void {
    const found = this.#store.find(collectionOf(resource), keyText(key));
    if (found !== undefined) this.#store.delete(collectionOf(resource), found.object);
  }

  /** Forgets the history: watches from older resourceVersions and continue tokens get 410. */
  compact(): void {
    this.#store.compact();
  }

  bookmark(resource: Resource): void {
    const { kind, version, group } = resource;
    const apiVersion = group === "" ? version : `${group}/${version}`;
    const suffix = `/${resource.plural}`;
    for (const watch of this.#watches) if (pathname(watch.path).endsWith(suffix)) watch.bookmark(kind, apiVersion, this.#store.revision);
  }

  /** Interrupts the watches that are open now. */
  interruptWatches(
    how: Extract<StreamFault, "end" | "break" | "gone" | "stall">,
    fits: (watch: { path: string; actor: string }) => boolean = () => true,
  ): void {
    for (const watch of this.#watches) if (fits(watch)) watch.interrupt(how);
  }

  #transport(actor: string | undefined): Transport {
    const closed = new AbortController();
    return {
      send: (request, signal) => {
        const named = actor === undefined ? request : { ...request, headers: { ...request.headers, "user-agent": actor } };
        return this.#send(named, AbortSignal.any([signal, closed.signal]));
      },
      close: () => Promise.resolve(closed.abort()),
    };
  }

  async #send(raw: TransportRequest, signal: AbortSignal): Promise<Sent> {
    await Promise.resolve(); // never in the caller's own turn, as with a socket
    if (signal.aborted) return cancelled();
    const request = parseRequest(raw);
    if (request === undefined) return ok(answerOf(refuse(404, "the server could not find the requested resource")));
    const fault = this.faults.forRequest(request);
    if (fault?.kind === "delay" && !(await sleep(this.#clock, fault.ms, signal))) return cancelled();
    if (fault?.kind === "unreachable") return this.#broken(request, 0, fault);
    if (fault?.kind === "answer") return this.#answer(request, faultAnswer(fault), fault);
    if (request.isWatch) return this.#watch(request, signal);
    const outcome = this.#verbs.run(request);
    return fault?.kind === "lost-answer" ? this.#broken(request, outcome.code, fault) : this.#answer(request, outcome, fault);
  }

  #answer(request: ParsedRequest, outcome: Outcome, fault?: RequestFault): Sent {
    this.#note(request, outcome.code, fault);
    return ok(answerOf(outcome));
  }

  #broken(request: ParsedRequest, code: number, fault: RequestFault): Sent {
    this.#note(request, code, fault);
    const unsent = fault.kind === "unreachable" ? ({ retry: "safe" } as const) : {};
    return err({ kind: "network", message: "the connection was reset", ...unsent });
  }

  #note({ method, path, actor }: ParsedRequest, code: number, fault?: RequestFault): void {
    this.#log.push({ at: this.#clock.now(), method, path, code, actor, ...(fault === undefined ? {} : { fault: fault.kind }) });
  }

  #watch(request: ParsedRequest, signal: AbortSignal): Sent {
    this.#note(request, 200);
    const watch = new WatchStream({
      clock: this.#clock,
      faults: this.faults,
      selects: selectionOf(request),
      actor: request.actor,
      path: request.path,
    });
    const missed = this.#store.since(Number(request.query.get("resourceVersion") ?? this.#store.revision));
    this.#watches.add(watch);
    watch.onClose(() => this.#watches.delete(watch));
    const mine = (change: { collection: string }) => change.collection === request.collection;
    if (missed === undefined) watch.interrupt("gone");
    for (const change of missed?.filter(mine) ?? []) watch.offer(change);
    watch.onClose(this.#store.listen((change) => mine(change) && watch.offer(change)));
    this.#endInTime(request, watch, signal);
    return ok({ code: 200, headers: { "content-type": "application/json" }, body: watch.body() });
  }

  #endInTime(request: ParsedRequest, watch: WatchStream, signal: AbortSignal): void {
    const close = () => watch.close();
    const seconds = Number(request.query.get("timeoutSeconds") ?? 0);
    if (seconds > 0) watch.onClose(this.#clock.after(seconds * 1_000, () => watch.expire()));
    signal.addEventListener("abort", close, { once: true });
    watch.onClose(() => signal.removeEventListener("abort", close));
  }
}

function faultAnswer(fault: Extract<RequestFault, { kind: "answer" }>): Outcome {
  const headers = fault.retryAfterSeconds === undefined ? {} : { "retry-after": String(fault.retryAfterSeconds) };
  return { code: fault.code, body: statusOf(fault.code, `scripted: ${fault.code}`), headers };
}

function cancelled(): Sent {
  return err({ kind: "cancelled", message: "the caller gave up" });
}

function collectionOf(resource: Resource): string {
  return `${resource.group}/${resource.plural}`;
}

function pathname(path: string): string {
  return path.split("?")[0] ?? path;
}
