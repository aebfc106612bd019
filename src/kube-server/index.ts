export { inProcessClient, type InProcessOptions } from "./in-process.ts";
export { builtinKinds } from "./kinds.ts";
export { listen, parseTokenFile, userOf, type Listener, type TokenTable } from "./http/index.ts";
export { createApiServer, type ApiServer, type ApiServerOptions } from "./rest/api-server.ts";
export { resourceSegments, routeOf, type Target, type Verb } from "./rest/route.ts";
export type { ApiBody, ApiRequest, ApiResponse, EventStream, User } from "./rest/request.ts";
export type { DeletePolicy, FieldCause, ResourceType, StrategicSchema, TableColumn } from "./resource-type.ts";
export { startServer, type RunningServer, type ServerOptions } from "./server.ts";
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
