/**
 * Which namespaces hold objects of a kind, asked of the server once for all namespaces that end at the same time.
 *
 * A namespace's content is some forty kinds, and nearly all of them are empty; asking for each of them in each namespace is what makes
 * the end of a thousand namespaces slow. A response counts for a namespace only if it is from a time after the namespace stopped taking
 * new objects: its resourceVersion, and the time at which it was asked for, must not be earlier.
 */
import { ok, type Clock, type Result } from "#base";
import { groupResourceOf, metadataOf, type Resource } from "#kube";
import type { KubeError, KubeReader } from "#kube-client";

/** From when on nothing new can come into the namespace. */
export type Since = { readonly resourceVersion: string; readonly monotonic: number };

type Answer = { readonly resourceVersion: string; readonly askedAt: number; readonly namespaces: ReadonlySet<string> | "too many" };
type Asking = Promise<Result<Answer, KubeError>>;

/** More than one page of objects: asking namespace by namespace is cheaper. */
const PAGE = 500;

export class Holders {
  readonly #client: KubeReader;
  readonly #clock: Clock;
  readonly #known = new Map<string, Answer>();
  readonly #asking = new Map<string, Asking>();

  constructor(client: KubeReader, clock: Clock) {
    this.#client = client;
    this.#clock = clock;
  }

  /** Whether the namespace holds objects of this kind. */
  async holds(resource: Resource, namespace: string, since: Since, signal: AbortSignal): Promise<Result<boolean, KubeError>> {
    const answer = await this.#answer(resource, since, signal);
    if (!answer.ok) return answer;
    if (answer.value.namespaces !== "too many") return ok(answer.value.namespaces.has(namespace));
    const listed = await this.#client.list(metadataOf(resource), { namespace, limit: 1 }, { signal });
    return listed.ok ? ok(listed.value.items.length > 0) : listed;
  }

  async #answer(resource: Resource, since: Since, signal: AbortSignal): Asking {
    const name = groupResourceOf(resource);
    for (;;) {
      const known = this.#known.get(name);
      if (known !== undefined && isAfter(known, since)) return ok(known);
      const underWay = this.#asking.get(name);
      const asking = underWay ?? this.#ask(resource, signal);
      this.#asking.set(name, asking);
      const answer = await asking;
      if (!answer.ok) return answer;
      // what was under way may have been asked too early; what we asked ourselves was not
      if (underWay === undefined) return answer;
    }
  }

  async #ask(resource: Resource, signal: AbortSignal): Asking {
    const name = groupResourceOf(resource);
    const askedAt = this.#clock.monotonic();
    const listed = await this.#client.list(metadataOf(resource), { limit: PAGE }, { signal });
    this.#asking.delete(name);
    if (!listed.ok) return listed;
    const { metadata, items } = listed.value;
    const more = (metadata.continue ?? "") !== "";
    const namespaces = more ? "too many" : new Set(items.map((item) => item.metadata.namespace ?? ""));
    const answer: Answer = { resourceVersion: metadata.resourceVersion, askedAt, namespaces };
    this.#known.set(name, answer);
    return ok(answer);
  }
}

function isAfter({ resourceVersion, askedAt }: Answer, since: Since): boolean {
  return askedAt >= since.monotonic && !isOlder(resourceVersion, since.resourceVersion);
}

/** Versions are counters in text, too long for a number. */
function isOlder(a: string, b: string): boolean {
  return a.length === b.length ? a < b : a.length < b.length;
}
