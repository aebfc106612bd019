export { compileAll, type CompiledWorld } from "./compile-all.ts";
export { describeServiceError, placeOfError, type ServiceError } from "./errors.ts";
export { formatGraph, type GraphFormat } from "./graph-view.ts";
export { namespaceOfEnvironment } from "./placement.ts";
export { DEFAULT_SETTINGS, worldSettings, type WorldSettings } from "./settings.ts";
export { formatAnswer, why, type Answer, type Missing, type WhyQuestion } from "./why.ts";
export { World, type CompiledApplication, type ServiceKey, type WorldObject } from "./world.ts";
