export { builtinTypes, type BuiltinOptions } from "./builtin-types.ts";
export { type BuiltinResource, type BuiltinSubresource } from "./discovery.ts";
export { serviceAddresses, type ServiceAddresses } from "./service-addresses.ts";
