/** The dependencies of every request handler: store, types, clock, random numbers. One Core per server, one RequestContext per request. */
import type { Clock, Later, Logger } from "#base";
import { keyText, type KubeObject } from "#kube";
import type { Admission } from "./admission-port.ts";
import type { Authentication, Authorizer } from "./auth-port.ts";
import type { ResourceType } from "../resource-type.ts";
import { nextTurn, type TurnBudget } from "../turns.ts";
import type { Output } from "./media-types.ts";
import type { PodLogs } from "./pod-log-port.ts";
import type { ApiRequest } from "./request.ts";
import type { RequestTarget } from "./route.ts";
import type { TypeRegistry } from "./type-registry.ts";
import type { WatchBacklog } from "./watch-backlog.ts";
import type { Store, Stored, StoreKey } from "../store/index.ts";

export type Core = {
  readonly store: Store;
  readonly types: TypeRegistry;
  readonly clock: Clock;
  readonly random: () => number;
  readonly logger: Logger;
  /** Ends every watch when the server closes. */
  readonly closing: AbortSignal;
  /** Authenticates tokens and issues new ones. */
  readonly authentication: Authentication;
  readonly authorize: Authorizer;
  /** Authorization is off: every request is allowed. */
  readonly openToAll: boolean;
  readonly printed: PrintedObject;
  readonly backlog: WatchBacklog;
  readonly turns: TurnBudget;
  readonly admission: Admission;
  /** Absent: no Pod has a log. */
  readonly podLogs?: PodLogs | undefined;
};

/**
 * Many watchers of an object receive the same line, one right after the other. The last serialized object is cached, so that a change with
 * a thousand watchers is serialized once.
 */
export type PrintedObject = { object: KubeObject | undefined; text: string };

export function printOnce(printed: PrintedObject, object: KubeObject): string {
  if (printed.object !== object) {
    printed.text = JSON.stringify(object);
    printed.object = object;
  }
  return printed.text;
}

export type RequestContext = {
  readonly core: Core;
  readonly request: ApiRequest;
  readonly target: RequestTarget;
  readonly output: Output;
  readonly signal: AbortSignal;
  /** Texts of Warning headers; a Set, because equal warnings are sent once. */
  readonly warnings: Set<string>;
  /** The body is so large that each step of the work runs in its own turn of the event loop. */
  readonly large: boolean;
};

/** Runs the next step of the work. Other requests may write in between, as they may during a webhook call. */
export function nextStep<T>({ large }: Pick<RequestContext, "large">, go: () => Later<T>): Later<T> {
  return large ? nextTurn().then(async () => go()) : go();
}

export function storeKey(target: Pick<RequestTarget, "namespace">, name: string): StoreKey {
  return keyText({ namespace: target.namespace, name });
}

export function readStored({ core, target }: Pick<RequestContext, "core" | "target">, name: string): Stored | undefined {
  return core.store.get(target.type.collection, storeKey(target, name));
}

/** In the requested version. */
export function inVersion(type: ResourceType, stored: KubeObject): KubeObject {
  return type.fromStorage(stored);
}

const HEX = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, "0"));

/** A random UUID, version 4. */
export function newUid(random: () => number): string {
  const part = () => {
    const bits = Math.floor(random() * 0x1_0000_0000);
    return `${HEX[bits >>> 24] ?? ""}${HEX[(bits >>> 16) & 255] ?? ""}${HEX[(bits >>> 8) & 255] ?? ""}${HEX[bits & 255] ?? ""}`;
  };
  const [a, b, c, d] = [part(), part(), part(), part()];
  const variant = "89ab"[Math.floor(random() * 4)] ?? "8";
  return `${a}-${b.slice(0, 4)}-4${b.slice(5)}-${variant}${c.slice(1, 4)}-${c.slice(4)}${d}`;
}

const SUFFIX_LETTERS = "bcdfghjklmnpqrstvwxz2456789";
const MAX_PREFIX = 58;

/** Appends five letters to the prefix; no vowels, so that no English terms result. */
export function generateName(prefix: string, random: () => number): string {
  const letters = Array.from({ length: 5 }, () => SUFFIX_LETTERS[Math.floor(random() * SUFFIX_LETTERS.length)] ?? "b");
  return `${prefix.slice(0, MAX_PREFIX)}${letters.join("")}`;
}
