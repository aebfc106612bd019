export type { ReviewDeployment } from "./admission/handler.ts";
export { PatchIndex, type PatchIndexOptions } from "./admission/patch-index.ts";
export { reviewDeployments, type ReviewDeploymentOptions } from "./admission/review-deployment.ts";
export { startAdmissionServer, type AdmissionServer, type AdmissionServerOptions } from "./admission/server.ts";
export { webhookConfiguration, type WebhookAddress, type WebhookConfigurationInput } from "./admission/webhook-configuration.ts";
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
