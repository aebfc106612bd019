/**
 * Faults of the simulation, as data. A fault selects containers and defines what happens to them; the kubelet evaluates it on every
 * step, so lifting a fault repairs the affected containers.
 */
import { matches, parseSelector, type Container, type Pod, type Requirement } from "#kube";

export type ProbeKind = "readiness" | "liveness" | "startup";

/** The kinds of faults of a container. */
export type Mishap =
  /** The image is never pulled: ErrImagePull, then ImagePullBackOff. */
  | { readonly kind: "image-pull"; readonly message?: string }
  /** The container exits repeatedly: CrashLoopBackOff, or a failed Job. */
  | { readonly kind: "exit"; readonly code: number; readonly afterMs?: number; /** Only the first so many runs. */ readonly times?: number }
  /** The probe never succeeds. */
  | { readonly kind: "probe"; readonly probe: ProbeKind }
  /** The start of the container is delayed by this. */
  | { readonly kind: "slow-start"; readonly ms: number };

/** Selects containers; absent fields match everything. */
export type FaultTarget = {
  readonly namespace?: string;
  /** "app=web,tier!=db" */
  readonly selector?: string;
  readonly container?: string;
  /** `*` matches any text: "registry.example/*:broken". */
  readonly image?: string;
};

/** A fault and the containers that it affects. Without `on`: all. */
export type Fault = Mishap & { readonly on?: FaultTarget };

/** An active fault; lifting it repairs the affected containers. */
export type FaultHandle = { readonly lift: () => void };

/** The active faults. Subscribers are notified of changes: the kubelet then checks its Pods again. */
export class FaultList {
  readonly #faults = new Set<Fault>();
  readonly #listeners = new Set<() => void>();

  constructor(faults: readonly Fault[] = []) {
    for (const fault of faults) this.#faults.add({ ...fault });
  }

  add(fault: Fault): FaultHandle {
    const own = { ...fault };
    this.#faults.add(own);
    this.#tell();
    return {
      lift: () => {
        if (this.#faults.delete(own)) this.#tell();
      },
    };
  }

  clear(): void {
    this.#faults.clear();
    this.#tell();
  }

  subscribe(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  on(pod: Pod, container: Container): readonly Mishap[] {
    return this.#faults.size === 0 ? [] : [...this.#faults].filter(({ on }) => on === undefined || hits(on, pod, container));
  }

  #tell(): void {
    for (const listener of this.#listeners) listener();
  }
}

function hits({ namespace, selector, container: name, image }: FaultTarget, pod: Pod, container: Container): boolean {
  if (namespace !== undefined && namespace !== pod.metadata.namespace) return false;
  if (name !== undefined && name !== container.name) return false;
  if (image !== undefined && !matchesPattern(image, container.image ?? "")) return false;
  return selector === undefined || matches(requirements(selector), pod.metadata.labels);
}

/** An invalid selector selects nothing rather than everything. */
function requirements(selector: string): readonly Requirement[] {
  const parsed = parseSelector(selector);
  return parsed.ok ? parsed.value : [{ key: "", operator: "exists" }];
}

/** Matches the parts between the stars one by one; user input does not become a regular expression. */
export function matchesPattern(pattern: string, text: string): boolean {
  const [first = "", ...rest] = pattern.split("*");
  if (rest.length === 0) return pattern === text;
  if (!text.startsWith(first)) return false;
  const last = rest.pop() ?? "";
  let at = first.length;
  for (const piece of rest) {
    const found = text.indexOf(piece, at);
    if (found < 0) return false;
    at = found + piece.length;
  }
  return text.length - at >= last.length && text.endsWith(last);
}
