/** What the bootstrap server needs from other folders: certificates from the cell's authority, and the manifests of a child. */
import type { Result } from "#base";
import type { BootstrapReport } from "./cluster-access.ts";

export type IssuedCertificate = {
  /** PEM. */
  readonly certificate: string;
  readonly serial: string;
  /** Milliseconds since 1970. */
  readonly notAfter: number;
  /** SHA-256 of the public key, lower-case hexadecimal. */
  readonly keyHash: string;
  /** PEM of all authorities that the child has to trust. */
  readonly trustBundle: string;
};

/** `message` is shown to the client, which has proven its identity by then. It contains nothing secret. */
export type SignError = { readonly kind: "invalid-csr" | "refused" | "unavailable"; readonly message: string };

/** A renewal whose signature, chain and age are in order. */
export type CheckedRenewal = {
  /** PEM of the new request. */
  readonly csr: string;
  /** Of the certificate with whose key the renewal is signed. */
  readonly serial: string;
  /** Of the same certificate, in milliseconds since 1970. Without it only certificates on record are renewed, not those that a restored backup lacks. */
  readonly notBefore?: number | undefined;
};

/** The cell's authority. It takes every name of a certificate from `cluster`, none from the request. */
export type CertificateSigner = {
  /** Reads a request completely, and checks its own signature. */
  readonly keyHashOf: (csrPem: string) => Result<string, SignError>;
  readonly sign: (cluster: string, csrPem: string) => Result<IssuedCertificate, SignError>;
  /** "refused" for everything that is wrong with it: an expired, foreign or forged renewal is a failed authentication. */
  readonly verifyRenewal: (cluster: string, request: string) => Result<CheckedRenewal, SignError>;
};

/** One YAML stream for `kubectl apply`. The same arguments give the same content. */
export type BootstrapManifests = (cluster: string, csrToken: string) => Promise<Result<string, string>>;

export type OnReport = (cluster: string, report: BootstrapReport) => void;
