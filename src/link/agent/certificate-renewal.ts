/**
 * Renewal of the agent's certificate over the stream. The new key is used only once the cell's certificate for it has arrived and is stored: until then
 * the agent keeps the old one.
 */
import { createPrivateKey, X509Certificate } from "node:crypto";
import { describeThrown, err, fromPromise, fromThrowing, ok, reveal, type Clock, type Logger, type Result, type Sensitive } from "#base";
import { combineBundles } from "#pki";
import type { RenewalMessage } from "../protocol/cell-messages.ts";
import { LINK_TIMES } from "../protocol/link-limits.ts";
import type { AgentCredentials, AgentLinkOptions } from "./agent-types.ts";

type RenewalOptions = Pick<AgentLinkOptions, "renewal" | "credentials" | "onRenewed" | "onTrustBundle" | "clock" | "logger">;

export class CertificateRenewal {
  readonly #options: RenewalOptions;
  readonly #clock: Clock;
  readonly #logger: Logger;
  #pendingKey: Sensitive<string> | undefined;
  #nextAttempt = Number.NEGATIVE_INFINITY;

  constructor(options: RenewalOptions) {
    this.#options = options;
    this.#clock = options.clock;
    this.#logger = options.logger;
  }

  /** The request to send now, if one is due. */
  requestIfDue(): string | undefined {
    const now = this.#clock.monotonic();
    if (now < this.#nextAttempt || !this.#options.renewal.due(this.#clock.now())) return undefined;
    this.#nextAttempt = now + LINK_TIMES.renewalRetryMs;
    const request = this.#options.renewal.request();
    if (!request.ok) {
      this.#logger.error("no request for a new certificate", { error: request.error });
      return undefined;
    }
    this.#pendingKey = request.value.key;
    return request.value.csr;
  }

  /** The answer can no longer arrive: the next connection asks again. */
  connectionEnded(): void {
    this.#pendingKey = undefined;
    this.#nextAttempt = Number.NEGATIVE_INFINITY;
  }

  /** True when the renewed credentials are stored. */
  async answered(answer: RenewalMessage): Promise<boolean> {
    const key = this.#pendingKey;
    this.#pendingKey = undefined;
    if (key === undefined) return false; // an answer to nothing
    const renewed = this.#credentialsOf(answer, key);
    const stored = renewed.ok ? await settled(this.#options.onRenewed(renewed.value)) : renewed;
    if (stored.ok) {
      this.#nextAttempt = Number.NEGATIVE_INFINITY;
      this.#logger.info("the certificate was renewed");
    } else this.#logger.warn("the certificate was not renewed; the agent tries again", { error: stored.error });
    return stored.ok;
  }

  /** Stores the authorities that a cell sent, if they are certificates and differ from the stored ones. */
  async trustBundle(bundle: string): Promise<void> {
    if (bundle === "" || bundle === this.#options.credentials().trustBundle) return;
    const checked = this.#checkBundle(bundle);
    const stored = checked.ok ? await settled(this.#options.onTrustBundle(bundle)) : checked;
    if (!stored.ok) this.#logger.warn("the trust bundle of the cell was not stored", { error: stored.error });
  }

  #credentialsOf({ certificate, trustBundle, error }: RenewalMessage, key: Sensitive<string>): Result<AgentCredentials, string> {
    if (certificate === "") return err(error === "" ? "the cell refused without a reason" : error);
    const matches = fromThrowing(
      () => new X509Certificate(certificate).checkPrivateKey(createPrivateKey(reveal(key))),
      () => "the cell sent a certificate that is not readable PEM",
    );
    if (!matches.ok) return matches;
    if (!matches.value) return err("the cell sent a certificate for another key");
    const bundle = trustBundle === "" ? this.#options.credentials().trustBundle : trustBundle;
    const checked = this.#checkBundle(bundle);
    return checked.ok ? ok({ certificate, key, trustBundle: bundle }) : checked;
  }

  /** At least one authority must be left: with none, the agent could never connect again. */
  #checkBundle(bundle: string): Result<void, string> {
    const valid = combineBundles(bundle, "", this.#clock.now());
    if (!valid.ok) return err(valid.error.message);
    return valid.value === "" ? err("the trust bundle has no authority that is still valid") : ok(undefined);
  }
}

async function settled(storing: Promise<Result<void, string>>): Promise<Result<void, string>> {
  const stored = await fromPromise(storing, describeThrown);
  return stored.ok ? stored.value : stored;
}
