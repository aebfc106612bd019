/**
 * What a child gets: manifests and certificates. A certificate is signed, then recorded together with the spent token, then sent.
 *
 * A crash after signing loses a certificate that was never sent; a crash after recording loses an answer. Both times the child asks again with the
 * same key and gets another certificate. After a conflict the record is read again, and the certificate that is signed already is used.
 */
import { err, map, mapErr, ok, reveal, sha256Hex, type Clock, type Result, type Sensitive } from "#base";
import type { AccessChange, AccessError, AccessRecords } from "./access-records.ts";
import { mayRegister, mayRenew, maySignFirst, recordFirst, recordRenewal, recordStreamRenewal, type IssuedFacts } from "./access-rules.ts";
import type { ClusterAccess } from "./cluster-access.ts";
import type { BootstrapManifests, CertificateSigner, IssuedCertificate, SignError } from "./ports.ts";
import { SingleFlight } from "./single-flight.ts";
import { csrTokenOf, hashOfToken, isToken } from "./tokens.ts";

export type IssuedAnswer = Pick<IssuedCertificate, "certificate" | "trustBundle">;

export type IssuanceOptions = {
  readonly records: AccessRecords;
  readonly signer: CertificateSigner;
  readonly manifests: BootstrapManifests;
  readonly clock: Clock;
};

type Issue = {
  readonly cluster: string;
  readonly csr: string;
  readonly allows: (access: ClusterAccess, keyHash: string, now: number) => boolean;
  readonly record: (access: ClusterAccess, signed: IssuedFacts, now: number) => ClusterAccess | undefined;
};

const refused: Result<never, AccessError> = err({ kind: "refused", message: "the token or certificate is not valid" });
const busy: Result<never, AccessError> = err({ kind: "busy", message: "too many requests for this cluster wait already; try again later" });

export class Issuance {
  readonly #options: IssuanceOptions;
  readonly #registering = new SingleFlight<Result<string, AccessError>>();
  readonly #issuing = new SingleFlight<Result<IssuedAnswer, AccessError>>();

  constructor(options: IssuanceOptions) {
    this.#options = options;
  }

  async register(cluster: string, token: Sensitive<string>): Promise<Result<string, AccessError>> {
    const { records, manifests, clock } = this.#options;
    const work = async (): Promise<Result<string, AccessError>> => {
      const current = await records.change<boolean>(cluster, (access) =>
        ok({ value: isToken(token, access.bootstrapHash) && mayRegister(access, clock.now()) }),
      );
      if (!current.ok) return current;
      if (!current.value) return refused;
      const text = await manifests(cluster, reveal(csrTokenOf(cluster, token)));
      return mapErr(text, (message): AccessError => ({ kind: "unavailable", message }));
    };
    return (await this.#registering.run(cluster, hashOfToken(token), work)) ?? busy;
  }

  signFirst(cluster: string, csr: string, token: Sensitive<string>): Promise<Result<IssuedAnswer, AccessError>> {
    const issue: Issue = {
      cluster,
      csr,
      allows: (access, keyHash, now) => isToken(token, access.csrHash) && maySignFirst(access, keyHash, now),
      record: recordFirst,
    };
    return this.#once(issue, `csr ${hashOfToken(token)}`);
  }

  async renewExpired(cluster: string, request: string): Promise<Result<IssuedAnswer, AccessError>> {
    const checked = this.#options.signer.verifyRenewal(cluster, request);
    if (!checked.ok) return err(asAccessError(checked.error));
    const { csr, ...shown } = checked.value;
    const issue: Issue = {
      cluster,
      csr,
      allows: (access) => mayRenew(access, shown),
      record: (access, signed, now) => recordRenewal(access, shown, signed, now),
    };
    return this.#once(issue, `renew ${shown.serial}`);
  }

  renewConnected(cluster: string, csr: string): Promise<Result<IssuedAnswer, AccessError>> {
    const issue: Issue = { cluster, csr, allows: ({ revoked }) => !revoked, record: recordStreamRenewal };
    return this.#once(issue, "stream");
  }

  async #once(issue: Issue, proof: string): Promise<Result<IssuedAnswer, AccessError>> {
    return (await this.#issuing.run(issue.cluster, `${proof} ${sha256Hex(issue.csr)}`, () => this.#issue(issue))) ?? busy;
  }

  async #issue({ cluster, csr, allows, record }: Issue): Promise<Result<IssuedAnswer, AccessError>> {
    const { records, signer, clock } = this.#options;
    const keyHash = signer.keyHashOf(csr);
    if (!keyHash.ok) return err(asAccessError(keyHash.error));
    let signed: IssuedCertificate | undefined;
    const answer = await records.change(cluster, (access): Result<AccessChange<IssuedCertificate>, AccessError> => {
      const now = clock.now();
      if (!allows(access, keyHash.value, now)) return refused;
      const certificate = signed === undefined ? signer.sign(cluster, csr) : ok(signed);
      if (!certificate.ok) return err(asAccessError(certificate.error));
      signed = certificate.value;
      const { serial, notAfter } = signed;
      const next = record(access, { serial, notAfter, keyHash: keyHash.value }, now);
      return next === undefined ? refused : ok({ next, value: signed });
    });
    return map(answer, ({ certificate, trustBundle }) => ({ certificate, trustBundle }));
  }
}

function asAccessError({ kind, message }: SignError): AccessError {
  return { kind: kind === "invalid-csr" ? "invalid-request" : kind, message };
}
