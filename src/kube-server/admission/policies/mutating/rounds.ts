/**
 * The state of one request between its two rounds: which policies ran and may run again, and the objects that they returned.
 *
 * A policy runs again only if the object was changed after it: by a later policy, a webhook, or another plugin.
 */
import { jsonEqual, type KubeObject } from "#kube";
import { firstRound, type Attributes, type Reinvocation } from "../../../protocol/admission-port.ts";

export class PolicyRounds {
  readonly #round: Reinvocation;
  readonly #ran = new Set<string>();
  readonly #again = new Set<string>();
  #left: KubeObject | undefined;

  constructor(round: Reinvocation) {
    this.#round = round;
  }

  begin(object: KubeObject | undefined): void {
    if (this.#round.round === 2 && !jsonEqual(this.#left, object)) this.#changed();
  }

  end(object: KubeObject | undefined): void {
    this.#left = object;
  }

  runs(key: string): boolean {
    return this.#round.round === 1 || this.#again.has(key);
  }

  ran(key: string, { changed, reinvocable }: { readonly changed: boolean; readonly reinvocable: boolean }): void {
    if (changed) {
      this.#changed();
      this.#round.wanted = true;
    }
    if (reinvocable) this.#ran.add(key);
  }

  #changed(): void {
    for (const key of this.#ran) this.#again.add(key);
    this.#ran.clear();
  }
}

/** One per request: the rounds of a request share their `reinvocation`. */
export function policyRounds(): (attributes: Attributes) => PolicyRounds {
  const known = new WeakMap<Reinvocation, PolicyRounds>();
  return ({ reinvocation = firstRound() }) => {
    const rounds = known.get(reinvocation) ?? new PolicyRounds(reinvocation);
    known.set(reinvocation, rounds);
    return rounds;
  };
}
