/** The authorities and the serving certificate of a running cell, kept as they have to be. */
import { err, ok, type Result } from "#base";
import { trustBundle, type CellAuthorities } from "#pki";
import { currentAuthorities, type AuthoritySecretOptions } from "./authority-secret.ts";
import { isServingDue, issueServing, type CellServingCertificate } from "./serving-certificate.ts";

export type CellCertificatesOptions = AuthoritySecretOptions & {
  /** The addresses that children connect to. */
  readonly host: string | readonly string[];
};

export class CellCertificates {
  readonly #options: CellCertificatesOptions;
  #authorities: CellAuthorities;
  #serving: CellServingCertificate;

  private constructor(options: CellCertificatesOptions, authorities: CellAuthorities, serving: CellServingCertificate) {
    this.#options = options;
    this.#authorities = authorities;
    this.#serving = serving;
  }

  static async open(options: CellCertificatesOptions): Promise<Result<CellCertificates, string>> {
    const authorities = await currentAuthorities(options);
    if (!authorities.ok) return authorities;
    const serving = issueServing(authorities.value, options.host, options.clock.now());
    return serving.ok ? ok(new CellCertificates(options, authorities.value, serving.value)) : serving;
  }

  get authorities(): CellAuthorities {
    return this.#authorities;
  }

  get tls(): CellServingCertificate {
    return this.#serving;
  }

  get trustBundle(): string {
    return trustBundle(this.#authorities);
  }

  /** True: the listeners must load them again. An error changes nothing. */
  async refresh(): Promise<Result<boolean, string>> {
    const { clock, host } = this.#options;
    const authorities = await currentAuthorities(this.#options);
    if (!authorities.ok) return err(authorities.error);
    const isDue = isServingDue(this.#serving, authorities.value, clock.now());
    const serving = isDue ? issueServing(authorities.value, host, clock.now()) : ok(this.#serving);
    if (!serving.ok) return serving;
    const before = this.trustBundle;
    this.#authorities = authorities.value;
    this.#serving = serving.value;
    return ok(isDue || this.trustBundle !== before);
  }
}
