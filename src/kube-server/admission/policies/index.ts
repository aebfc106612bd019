export { mutatingPolicies } from "./mutating/plugin.ts";
export { validatingPolicies } from "./validating/plugin.ts";
