/** The ServiceAccount token of a Pod, as a kubelet requests it: bound to the Pod, and replaced in its file before it expires. */
import { ok, type Clock, type Logger, type Result, type Sensitive } from "#base";
import type { Pod } from "#kube";
import { writeToken, type PodPaths } from "./pod-files.ts";

export type PodToken = { readonly token: Sensitive<string>; /** Milliseconds since the epoch. */ readonly expiresAt: number };

/** POST of a TokenRequest. */
export type RequestToken = (pod: Pod) => Promise<Result<PodToken, string>>;

export type RenewalOptions = {
  readonly pod: Pod;
  readonly paths: PodPaths;
  readonly requestToken: RequestToken;
  readonly clock: Clock;
  readonly logger: Logger;
};

/** Of its lifetime. */
const RENEW_AT = 0.8;
const RETRY_MS = 30_000;

export class TokenRenewal {
  readonly #options: RenewalOptions;
  #cancel: () => void = () => {};
  #closed = false;

  constructor(options: RenewalOptions) {
    this.#options = options;
  }

  /** Writes a new token now, and plans the next one. */
  async renew(): Promise<Result<void, string>> {
    const { pod, paths, requestToken, clock } = this.#options;
    const issued = await requestToken(pod);
    const written = issued.ok ? writeToken(paths, issued.value.token) : issued;
    const nextMs = issued.ok && written.ok ? Math.max(RETRY_MS, (issued.value.expiresAt - clock.now()) * RENEW_AT) : RETRY_MS;
    if (!this.#closed) this.#cancel = clock.after(nextMs, () => void this.#renewLater());
    return written.ok ? ok(undefined) : written;
  }

  close(): void {
    this.#closed = true;
    this.#cancel();
  }

  async #renewLater(): Promise<void> {
    const { pod, logger } = this.#options;
    const renewed = await this.renew();
    if (!renewed.ok && !this.#closed)
      logger.warn("a token cannot be renewed; it is tried again", { pod: pod.metadata.name, reason: renewed.error });
  }
}
