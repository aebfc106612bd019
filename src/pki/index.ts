export {
  createCertificateAuthority,
  issueCertificate,
  loadCertificateAuthority,
  type AuthorityRequest,
  type CertificateAuthority,
  type CertificateRequest,
  type KeyPairPem,
  type PkiError,
} from "./certificate.ts";
export { createFolder } from "./create-folder.ts";
export { readChildren, readElement, type DerElement } from "./der-reader.ts";
export { writePrivateFile } from "./private-file.ts";
export { createSigningKey, loadSigningKey, type PublicJwk, type SigningKey } from "./signing-key.ts";
export type { Usage } from "./x509.ts";
