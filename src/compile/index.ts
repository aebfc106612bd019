export { formatAnswer, formatAnswers, type AnswerOptions } from "./answer-text.ts";
export { checkAssertions, formatAssertions, parseAssertions, type Assertion, type AssertionResult } from "./assertions.ts";
export { compileClusters, type CompiledClusters } from "./clusters.ts";
export { compileAll, type CompiledWorld } from "./compile-all.ts";
export { compiledKinds, policyKinds } from "./compiled-kinds.ts";
export {
  isCompiled,
  isForeign,
  loadWorld,
  type DocumentProblem,
  type LoadedDocument,
  type LoadedWorld,
  type SourceFiles,
  type WorldDocument,
  type WorldOptions,
} from "./documents.ts";
export { documentWarnings, problemsOf } from "./document-problems.ts";
export { diffObjects, isSame, type DiffOptions, type ObjectChange, type Roll, type WorldDiff } from "./diff.ts";
export type { Move } from "./diff/config.ts";
export type { FieldChange } from "./diff/fields.ts";
export { flowsOf, flowText, type Flow } from "./diff/flows.ts";
export { formatDiff } from "./diff-text.ts";
export type { Dependencies } from "./closed-dependencies.ts";
export { absentObject, describeServiceError, placeOfError, type ServiceError } from "./errors.ts";
export type { NameScope } from "./find-service.ts";
export { drawGraph, formatGraph, type GraphFormat, type GraphOptions } from "./graph-view.ts";
export type { Missing } from "./missing.ts";
export type { TableWriter } from "./plain-table.ts";
export { workloadFacts, type FindWorkload, type PatchTarget, type WorkloadError, type WorkloadFacts } from "./patch-target.ts";
export { namespaceOfEnvironment } from "./placement.ts";
export type { ScoreError } from "./score/error.ts";
export { ANY_IMAGE, type ScoreImages } from "./score/images.ts";
export { isScore, parseScore, type ScoreOptions } from "./score.ts";
export type { SecretUse } from "./secret-store.ts";
export { DEFAULT_SETTINGS, worldSettings, type WorldSettings } from "./settings.ts";
export { why, type WhyAnswer, type WhyQuestion } from "./why.ts";
export type { FindObject, FoundObject } from "./object-access.ts";
export { parseDocuments } from "./yaml-documents.ts";
export { World, type CompiledApplication, type ServiceKey, type WorldObject } from "./world.ts";
export { plain, secret, type Provisioned, type Provisioner, type ProvisionRequest, type Value, type Warning } from "#service-compiler";
export { convertCompose, type ConvertedCompose } from "./compose/convert.ts";
export { describeCompose, isCompose } from "./compose/detect.ts";
export type { ComposeNotice } from "./compose/notice.ts";
export type { Err, Ok, Result, Sensitive } from "#base";
export type { WorkloadPatch } from "#workload-patch";
export type { Json, JsonObject, KubeObject, ObjectKey, Resource, YamlError } from "#kube";
export {
  formatFieldError,
  parseLatticeObject,
  parseLatticeService,
  type FieldError,
  type FieldErrorKind,
  type LatticeCluster,
  type LatticeEnvironment,
  type LatticeExternalService,
  type LatticeImageRegistry,
  type LatticeObject,
  type LatticeSecretBindings,
  type LatticeService,
  type LatticeServiceConfig,
  type LatticeServiceRegistration,
} from "#crds";
