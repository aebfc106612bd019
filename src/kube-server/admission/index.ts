export { admissionChain } from "./chain.ts";
export { admissionPlugins } from "./plugins.ts";
export type { Admission, AdmissionContext, AdmissionPlugin, Attributes, Mutate, Operation, Validate } from "./port.ts";
