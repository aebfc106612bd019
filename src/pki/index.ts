export {
  agentNames,
  certificateValidity,
  readAgentIdentity,
  renewalTime,
  type AgentIdentity,
  type AgentNames,
  type CertificateValidity,
} from "./agent-identity.ts";
export {
  createCellAuthorities,
  RENEWAL_AFTER_EXPIRY,
  rotateIfDue,
  SERVING_CERTIFICATE_LIFE,
  servingAuthority,
  trustBundle,
  type AuthorityRotation,
  type CellAuthorities,
  type RetiredAuthority,
} from "./cell-authorities.ts";
export { authoritiesFromSecret, authoritiesToSecret } from "./cell-authorities-secret.ts";
export {
  createCertificateAuthority,
  issueCertificate,
  loadCertificateAuthority,
  type AuthorityRequest,
  type CertificateAuthority,
  type CertificateRequest,
} from "./certificate.ts";
export { combineBundles } from "./certificate-bundle.ts";
export { certificateSummary, type CertificateSummary } from "./certificate-summary.ts";
export { checkCertificate, isIssuedWithin, type CertificateState, type CertificateUse } from "./check-certificate.ts";
export { createFolder } from "./create-folder.ts";
export { createCsr, signCsr, type CsrSigning, type SignedCertificate } from "./csr.ts";
export type { CurveName } from "./curves.ts";
export { readChildren, readElement, type DerElement } from "./der-reader.ts";
export { createPrivateKeyPem, type KeyPairPem, type PkiError } from "./key-pair.ts";
export { unsupportedKind, writePrivateFile } from "./private-file.ts";
export { readCsr, type CsrContent, type CsrLimits } from "./read-csr.ts";
export { readPrivateFile, type PrivateFileOptions } from "./read-private-file.ts";
export { signRenewal, verifyRenewal, type RenewalCheck, type RenewalError, type VerifiedRenewal } from "./renewal.ts";
export { parseRenewalRequest, type AgentRenewalRequest } from "./renewal-request.ts";
export { openStream, sealStream, type ByteSource, type SealSecret } from "./sealed-file.ts";
export { createSigningKey, loadSigningKey, type PublicJwk, type SigningKey } from "./signing-key.ts";
export type { Usage } from "./x509.ts";
export {
  decideWebhookRenewal,
  isDeliveredDue,
  issueWebhookCertificate,
  WEBHOOK_CERTIFICATE_LIFE,
  type WebhookRenewal,
  type WebhookTrustState,
} from "./webhook-renewal.ts";
