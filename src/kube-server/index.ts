export { copyJson } from "./copy-json.ts";
export { inProcessClient, serverTransport, type InProcessOptions } from "./in-process.ts";
export { admissionPlugins, serviceAccounts } from "./admission/index.ts";
export { openApiSchemas } from "./apply/index.ts";
export { customResourceTypes } from "./custom-resources/index.ts";
export { CLIENT_AUTHORITY } from "./auth/index.ts";
export { createGuardedServer, openStore, type GuardedOptions, type StoreOptions } from "./guarded-server.ts";
export { builtinKinds } from "./kinds.ts";
export {
  certificateFor,
  createServerAuthority,
  issueServingCertificate,
  reuseServingCertificate,
  serveHttp,
  type ServingCertificate,
  type ServingRequest,
} from "./http/index.ts";
export { accountTokens, ANONYMOUS, parseTokenFile, rbacOf, userOf, type Rbac, type TokenTable } from "./auth/index.ts";
export { decodeProtobuf, isProtobuf } from "./protobuf/index.ts";
export { createApiServer, type ApiServer, type ApiServerOptions, type AuthorizedRequest } from "./rest/api-server.ts";
export type { PodLogOptions, PodLogRequest, PodLogs } from "./protocol/pod-log-port.ts";
export { requestInfoOf } from "./protocol/request-info.ts";
export { routeOf, type RequestTarget, type Verb } from "./protocol/route.ts";
export type { ApiBody, ApiRequest, ApiResponse, EventStream, User } from "./protocol/request.ts";
export type { DeletePolicy, FieldCause, ResourceType, StrategicSchema, TableColumn } from "./resource-type.ts";
export {
  createMemoryStore,
  openPersistentStore,
  type Listed,
  type ListRequest,
  type MemoryStoreOptions,
  type OpenedStore,
  type PersistentStoreOptions,
  type RecoveryReport,
  type RevisionError,
  type Store,
  type Stored,
  type StoreEvent,
  type StoreFiles,
  type StoreOpenError,
} from "./store/index.ts";
export type { Access, AccountTokens, Authorizer, Decision } from "./protocol/auth-port.ts";
export type { AdmissionContext, AdmissionPlugin } from "./protocol/admission-port.ts";
