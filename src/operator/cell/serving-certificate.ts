/** The certificate with which a cell serves its three ports. It is signed by an authority that every agent trusts, also during a rotation. */
import { isIP } from "node:net";
import { mapErr, type Result } from "#base";
import {
  certificateValidity,
  issueCertificate,
  renewalTime,
  servingAuthority,
  SERVING_CERTIFICATE_LIFE,
  type CellAuthorities,
  type CertificateValidity,
  type KeyPairPem,
} from "#pki";

export type CellServingCertificate = KeyPairPem & {
  readonly validity: CertificateValidity;
  /** The certificate of the authority that signed it: another one means that it must be signed again. */
  readonly signedBy: string;
};

/** `host`: the address that children connect to, or several: children may have a former one. */
export function issueServing(
  authorities: CellAuthorities,
  host: string | readonly string[],
  now: number,
): Result<CellServingCertificate, string> {
  const authority = servingAuthority(authorities, now);
  const validity = certificateValidity(authority, now, SERVING_CERTIFICATE_LIFE);
  const own = `${authorities.cell}.cell.lattice`;
  const hosts = [...new Set([host].flat())];
  const ipAddresses = hosts.filter((one) => isIP(one) !== 0);
  const names = { dnsNames: [...hosts.filter((one) => isIP(one) === 0), own], ...(ipAddresses.length === 0 ? {} : { ipAddresses }) };
  const issued = issueCertificate(authority, { commonName: own, ...names, ...validity, usages: ["server"] });
  const described = mapErr(issued, ({ message }) => `the certificate of the cell for ${hosts.join(", ")} cannot be issued: ${message}`);
  return described.ok ? { ok: true, value: { ...described.value, validity, signedBy: authority.certificate } } : described;
}

/** Two thirds of its life have passed, or another authority signs now. */
export function isServingDue(serving: CellServingCertificate, authorities: CellAuthorities, now: number): boolean {
  return now >= renewalTime(serving.validity) || servingAuthority(authorities, now).certificate !== serving.signedBy;
}
