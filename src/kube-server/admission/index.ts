export { admissionChain } from "./chain.ts";
export { admissionPlugins } from "./plugins.ts";
export { serviceAccounts } from "./service-accounts/index.ts";
