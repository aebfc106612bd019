/** What each server is known to answer differently, claim by claim. README.md says it in prose. */
import type { Deviations } from "./run-contracts.ts";

/** Areas and claims whose part of the server is being built: they are not run. */
export const PENDING: readonly string[] = [];

const ROUNDED = "numbers are JavaScript's, and whole ones beyond 2^53 are rounded";

export const EMBEDDED_DEVIATIONS: Deviations = {
  "integers keep all their digits": ROUNDED,
  "large numbers and floats are kept": ROUNDED,
  "the security level of a namespace refuses Pods": "there is no PodSecurity admission: labels of a namespace say nothing about its Pods",
};

/** The real server is the judge: a claim that it does not keep is no contract. */
export const REAL_DEVIATIONS: Deviations = {};
