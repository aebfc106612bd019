export { inProcessClient, serverTransport, type InProcessOptions } from "./in-process.ts";
export { admissionPlugins, serviceAccounts, type AdmissionContext, type AdmissionPlugin } from "./admission/index.ts";
export { openApiSchemas } from "./apply/index.ts";
export { customResourceTypes } from "./custom-resources/index.ts";
export { CLIENT_AUTHORITY } from "./auth/index.ts";
export { createGuardedServer, openStore, type GuardedOptions, type Kept } from "./guarded-server.ts";
export { builtinKinds } from "./kinds.ts";
export { certificateFor, serveHttp, type ServingCertificate } from "./http/index.ts";
export {
  accountTokens,
  ANONYMOUS,
  openKeyFile,
  parseTokenFile,
  rbacOf,
  userOf,
  type Access,
  type AccountTokens,
  type Authorizer,
  type Decision,
  type Rbac,
  type TokenTable,
} from "./auth/index.ts";
export { decodeProtobuf, isProtobuf } from "./protobuf/index.ts";
export { createApiServer, type ApiServer, type ApiServerOptions, type AuthorizedRequest } from "./rest/api-server.ts";
export { requestInfoOf } from "./rest/request-info.ts";
export { routeOf, type Target, type Verb } from "./rest/route.ts";
export type { ApiBody, ApiRequest, ApiResponse, EventStream, User } from "./rest/request.ts";
export type { DeletePolicy, FieldCause, ResourceType, StrategicSchema, TableColumn } from "./resource-type.ts";
export {
  createMemoryStore,
  describeOpenError,
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
