export { mutatingWebhooks } from "./mutating.ts";
export { validatingWebhooks } from "./validating.ts";
