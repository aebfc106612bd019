export {
  NO_CHANGES,
  type ApplyFailure,
  type ApplyFailureKind,
  type ChangeSet,
  type DeletingObject,
  type DeletionProgress,
} from "./apply/change-set.ts";
export { type AccessPlan, type ApplyEngineOptions, type ApplyEngineRequest, type Prune } from "./apply/engine.ts";
export { type DeletionOrder } from "./apply/deletion.ts";
export {
  APPLIED_ANNOTATION,
  FIELD_MANAGER,
  isLabelledByUs,
  isOwnedBy,
  KEPT_KINDS,
  OWNER_ANNOTATION,
  ownedFieldsOf,
  OWNER_LABEL,
  ownerKeyOf,
  ownerLabelOf,
  PRUNE_ANNOTATION,
  stamp,
  type ApplyOwner,
} from "./identity.ts";
export { type WantedObject, type WantedOnce } from "./apply/once.ts";
export { type ApplyOrder, type PlannedObjects } from "./apply/waves.ts";
export { InformerSet, OWNER_INDEX, type CacheReader, type Index, type InformerNeeds, type InformerUse } from "./cache.ts";
export {
  defineController,
  nothing,
  watch,
  type Controller,
  type ControllerDeclaration,
  type DesiredStatus,
  type OrderedTeardown,
  type PassResult,
  type Plan,
  type PlanError,
  type ReadRuntime,
  type Runtime,
  type Watch,
  type WatchContext,
} from "./controller.ts";
export type { EventNote } from "./events/event.ts";
export { EventRecorder, type EventRecorderOptions } from "./events/recorder.ts";
export { Informer, type ChangeHandler, type InformerHealth, type InformerOptions } from "./informer/informer.ts";
export type { ReadAccess } from "./informer/informer-group.ts";
export type { CacheChange } from "./informer/object-cache.ts";
export { LeaderElector, type LeaderElectorOptions } from "./leader/elector.ts";
export { type Fence } from "./leader/fence.ts";
export { fencedClient } from "./leader/fenced-client.ts";
export { DEFAULT_LEASE_TIMES, leaseTimesFor, type LeaseTimes } from "./leader/lease.ts";
export { createManager, type ControllerManager, type ManagerHealth, type ManagerOptions } from "./manager.ts";
export type { Need } from "./need.ts";
export {
  failed,
  REQUEUE,
  RUNTIME_REASONS,
  settled,
  stalled,
  waiting,
  type FailureCause,
  type FailureKind,
  type Handling,
  type ReconcileOutcome,
  type Requeue,
} from "./outcome.ts";
export {
  bindLeaderService,
  startLoop,
  type BoundLeaderService,
  type LeaderService,
  type LeaderServiceContext,
  type LeaderServiceDeclaration,
  type RunningLeaderService,
} from "./roles/leader-service.ts";
export type { ManagerRole } from "./roles/manager-role.ts";
export { bindController, type BoundController } from "./pass.ts";
export { WorkQueue, type WorkQueueOptions } from "./queue/work-queue.ts";
export { TokenBucket, type Rate } from "./queue/token-bucket.ts";
export { rbacFor, rbacForAccount, type AccountOptions, type PartDeclaration, type RbacRule, type RbacOptions } from "./rbac.ts";
export { type RunnerLimits } from "./runner.ts";
export { isDefinedKind, type ManagerScope } from "./scope.ts";
export { safeText } from "./safe-text.ts";
export { conditionsOf, type StatusRequest } from "./status-writer.ts";
