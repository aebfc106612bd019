export {
  createCertificateAuthority,
  issueCertificate,
  loadCertificateAuthority,
  type AuthorityRequest,
  type CertificateAuthority,
  type CertificateRequest,
} from "./certificate.ts";
export { combineBundles } from "./certificate-bundle.ts";
export { checkCertificate, type CertificateState, type CertificateUse } from "./check-certificate.ts";
export { createFolder } from "./create-folder.ts";
export { readChildren, readElement, type DerElement } from "./der-reader.ts";
export type { KeyPairPem, PkiError } from "./key-pair.ts";
export { writePrivateFile } from "./private-file.ts";
export { readPrivateFile, type PrivateFileOptions } from "./read-private-file.ts";
export { createSigningKey, loadSigningKey, type PublicJwk, type SigningKey } from "./signing-key.ts";
export type { Usage } from "./x509.ts";
