export { admissionChain } from "./chain.ts";
export { admissionPlugins } from "./plugins.ts";
export { serviceAccounts } from "./service-accounts/index.ts";
export type { Admission, AdmissionContext, AdmissionPlugin, Attributes, Mutate, Operation, Validate } from "./port.ts";
