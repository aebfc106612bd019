export { ACCEPTANCE_REASONS } from "./acceptance/conditions.ts";
export { acceptanceController, type Verdict } from "./acceptance/controller.ts";
