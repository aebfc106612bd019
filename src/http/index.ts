export type { ReviewedDeployment } from "./admission/admission-review.ts";
export { MUTATE_DEPLOYMENTS_PATH, type ReviewDeployment } from "./admission/handler.ts";
export type { ReviewAnswer } from "./admission/review-answer.ts";
export { startAdmissionServer, type AdmissionServer, type AdmissionServerOptions } from "./admission/server.ts";
export { startApiProxy, type ApiProxy, type ApiProxyOptions } from "./api-proxy/api-proxy.ts";
export type { AccessError } from "./bootstrap/access-records.ts";
export { newAccess } from "./bootstrap/access-rules.ts";
export {
  ACCESS_LABEL,
  accessOfSecret,
  accessSecret,
  type AgentCertificateRecord,
  type BootstrapReport,
  type ClusterAccess,
} from "./bootstrap/cluster-access.ts";
export type { IssuedAnswer } from "./bootstrap/issuance.ts";
export type { BootstrapManifests, CertificateSigner, CheckedRenewal, IssuedCertificate, OnReport, SignError } from "./bootstrap/ports.ts";
export { Registrations, type AccessRequest, type CreatedAccess, type RegistrationsOptions } from "./bootstrap/registrations.ts";
export { startBootstrapServer, type BootstrapServer, type BootstrapServerOptions } from "./bootstrap/server.ts";
export { createToken, csrTokenOf, hashOfToken } from "./bootstrap/tokens.ts";
export { startHealthServer, type Health, type HealthServer, type HealthServerOptions } from "./health/server.ts";
