/**
 * Whether an operator is ready: GET of /readyz at the address that it reported. Often until it is ready, rarely after that.
 */
import { get } from "node:http";
import type { Clock } from "#base";

export type ReadinessProbeOptions = {
  /** http://127.0.0.1:PORT, as the operator reported it. */
  readonly health: string;
  readonly clock: Clock;
  readonly onChange: (ready: boolean) => void;
  readonly probe?: (url: string) => Promise<boolean>;
};

const UNTIL_READY_MS = 250;
/** As long as a kubelet waits by default. */
const WHILE_READY_MS = 10_000;
const ANSWER_WITHIN_MS = 3_000;

export class ReadinessProbe {
  readonly #options: ReadinessProbeOptions;
  #ready = false;
  #closed = false;
  #cancel: () => void = () => {};

  constructor(options: ReadinessProbeOptions) {
    this.#options = options;
    void this.#check();
  }

  get ready(): boolean {
    return this.#ready;
  }

  close(): void {
    this.#closed = true;
    this.#cancel();
  }

  async #check(): Promise<void> {
    const { health, clock, onChange, probe = answersOk } = this.#options;
    const ready = await probe(`${health}/readyz`);
    if (this.#closed) return;
    const changed = ready !== this.#ready;
    this.#ready = ready;
    this.#cancel = clock.after(ready ? WHILE_READY_MS : UNTIL_READY_MS, () => void this.#check());
    if (changed) onChange(ready);
  }
}

/** Only addresses of this machine. */
export function isLoopbackUrl(text: string): boolean {
  return /^http:\/\/(?:127\.0\.0\.1|localhost|\[::1\]):[0-9]{1,5}$/.test(text);
}

function answersOk(url: string): Promise<boolean> {
  return new Promise((resolve) => {
    const request = get(url, { agent: false, timeout: ANSWER_WITHIN_MS }, (response) => {
      response.resume().on("error", () => {});
      resolve(response.statusCode === 200);
    });
    request.on("timeout", () => request.destroy()).on("error", () => resolve(false));
  });
}
