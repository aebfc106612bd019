export { actionOf, type Action, type ActionVerb } from "./action.ts";
export { ActionLog, describeAction, type LoggedAction, type Outcome } from "./action-log.ts";
export { actionMatches, type ActionMatch } from "./matching.ts";
