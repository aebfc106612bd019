export { errorOfAnswer, type KubeError, type KubeErrorKind } from "./errors.ts";
export type {
  Answer,
  ApplyOptions,
  CallOptions,
  DeleteOptions,
  KubeClient,
  KubeRaw,
  KubeReader,
  KubeWatcher,
  KubeWriter,
  ListQuery,
  PatchBody,
  PatchOptions,
  WatchEvent,
  WatchQuery,
} from "./ports.ts";
export type { Transport, TransportAnswer, TransportRequest } from "./transport.ts";
