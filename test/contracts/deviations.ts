/** Known deviations of each server, by claim. README.md explains them. */
import type { Deviations } from "./run-contracts.ts";

/** Areas and claims that are not run, because that part of the server is not finished. */
export const PENDING: readonly string[] = [];

const ROUNDED = "numbers are JavaScript's, and integers beyond 2^53 are rounded";

export const EMBEDDED_DEVIATIONS: Deviations = {
  "integers keep all their digits": ROUNDED,
  "large numbers and floats are kept": ROUNDED,
  "the pod security level of a namespace rejects Pods":
    "there is no PodSecurity admission: the labels of a namespace have no effect on its Pods",
};

/** The real server defines the expectations: a claim that fails there is wrong. */
export const REAL_DEVIATIONS: Deviations = {};
