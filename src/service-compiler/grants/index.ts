export { grantsOf, howToGrant, isShareable, secretNotShared, SHAREABLE_LABEL, shareableValues, sourceOf, type Grants } from "./grants.ts";
export { comparablePath, hostsOverlap, isWildcard, mayClaimHost, pathsOverlap } from "./host-patterns.ts";
export { podSecurityLabels, podSecurityViolations, widerLevel, type PodSecurityViolation } from "./pod-security.ts";
