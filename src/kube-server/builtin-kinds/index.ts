export { builtinTypes, type BuiltinOptions } from "./builtin-types.ts";
export { builtinDiscovery, type BuiltinResource, type BuiltinSubresource } from "./discovery.ts";
export { serviceAddresses, type ServiceAddresses } from "./service-addresses.ts";
