/** Signs the certificates of agents with the cell's current authority. Every name comes from the cluster, none from the request. */
import { andThen, map, mapErr, type Clock } from "#base";
import type { CertificateSigner, SignError } from "#http";
import { parseJson } from "#kube";
import {
  agentNames,
  certificateValidity,
  parseRenewalRequest,
  readCsr,
  signCsr,
  trustBundle,
  verifyRenewal,
  type CellAuthorities,
} from "#pki";

export type CellSignerOptions = {
  /** The authorities at present. */
  readonly authorities: () => CellAuthorities;
  readonly clock: Clock;
  /** Of a certificate, in milliseconds; default: 30 days. */
  readonly lifeMs?: number | undefined;
};

export function cellSigner({ authorities, clock, lifeMs }: CellSignerOptions): CertificateSigner {
  const csrOf = (pem: string) => mapErr(readCsr(pem), ({ message }): SignError => ({ kind: "invalid-csr", message }));
  return {
    keyHashOf: (pem) => map(csrOf(pem), ({ keyHash }) => keyHash),
    sign: (cluster, pem) =>
      andThen(csrOf(pem), (csr) => {
        const now = authorities();
        const validity = certificateValidity(now.current, clock.now(), lifeMs);
        const signed = signCsr(now.current, csr, { ...agentNames(now.cell, cluster), ...validity, usages: ["client"] });
        const named = mapErr(signed, ({ message }): SignError => ({ kind: "refused", message }));
        return map(named, (certificate) => ({ ...certificate, trustBundle: trustBundle(now) }));
      }),
    verifyRenewal: (cluster, text) => {
      const request = andThen(parseJson(text), parseRenewalRequest);
      const parsed = mapErr(request, (message): SignError => ({ kind: "refused", message }));
      return andThen(parsed, (renewal) => {
        const verified = verifyRenewal(renewal, { cluster, authorities: authorities(), now: clock.now() });
        const refused = mapErr(verified, ({ message }): SignError => ({ kind: "refused", message }));
        return map(refused, ({ identity: { serial, notBefore } }) => ({ csr: renewal.csr, serial, notBefore }));
      });
    },
  };
}
