export { inVersionOf } from "./versions.ts";
export { matchedIn, matchRules, readRules, type MatchedRule, type MatchPolicy, type AdmissionRule } from "./rules.ts";
export { namespaceNamed, readSelector, selectsNamespace, selectsObject, type Selector } from "./selectors.ts";
