export { describeServiceError, placeOfError, type ServiceError } from "./errors.ts";
export { namespaceOfEnvironment } from "./placement.ts";
export { DEFAULT_SETTINGS, worldSettings, type WorldSettings } from "./settings.ts";
export { World, type CompiledApplication, type ServiceKey, type WorldObject } from "./world.ts";
