/** A port for the logs of Pods: a server without it, as a server whose nodes have no kubelet, has none. */
import type { KubeObject } from "#kube";

/** The validated options of a request. */
export type PodLogOptions = {
  /** The log of the start before the newest one. */
  readonly previous: boolean;
  /** Continue with new lines until the container ends. */
  readonly follow: boolean;
  readonly timestamps: boolean;
  readonly tailLines?: number | undefined;
  /** Milliseconds since the epoch. */
  readonly since?: number | undefined;
  readonly limitBytes?: number | undefined;
};

export type PodLogRequest = PodLogOptions & { readonly container: string };

export type PodLogs = {
  /** Whether this Pod's containers write logs. */
  readonly has: (pod: KubeObject) => boolean;
  /** The log in chunks, each read when the one before was sent; ends with the signal. undefined: there is no such log. */
  readonly read: (pod: KubeObject, request: PodLogRequest, signal: AbortSignal) => AsyncIterable<Uint8Array> | undefined;
};
