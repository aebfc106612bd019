/** Limits of the admission server. Its clients are not authenticated: API servers send no certificate, so any Pod of the cluster may connect. */
import { LISTENER_LIMITS, type ListenerLimits } from "#listener";

const MIB = 1_024 * 1_024;

export type AdmissionLimits = {
  /** Of all bodies together that are read or processed at a time. A review beyond it is refused with 503, which the API server ignores. */
  readonly bodiesBytes: number;
  readonly listener: ListenerLimits;
};

export const ADMISSION_LIMITS: AdmissionLimits = {
  bodiesBytes: 64 * MIB,
  listener: {
    ...LISTENER_LIMITS,
    // an object may have 3 MiB, and an update sends it with the old one; the rest is the review around them
    bodyBytes: 7 * MIB,
    headerBytes: 16 * 1_024,
    headersMs: 5_000,
    // the API server gives up after two seconds
    requestMs: 5_000,
    stallMs: 5_000,
    connections: 1_024,
    streamsPerConnection: 250,
  },
};

/** A longer text is cut: clients print warnings, and the API server drops those beyond 4,096 characters in all. */
export const MAX_WARNING_LENGTH = 120;
export const MAX_WARNINGS = 5;
