/**
 * A port for Pods whose containers run as processes of this machine. All other Pods are simulated.
 *
 * The kubelet calls `ensure` and `stop` as often as it likes, and shows in the Pod's status what `states` returns. The implementation starts,
 * restarts and ends the processes; they may outlive the kubelet, which adopts them when it starts again.
 */
import type { Pod } from "#kube";

/** A process that has ended. Times in milliseconds since the epoch. */
export type EndedContainer = {
  readonly kind: "ended";
  /** 128 + the signal's number for a process that a signal ended, as a container runtime reports it. */
  readonly exitCode: number;
  readonly startedAt: number;
  readonly finishedAt: number;
};

export type ContainerProcessState =
  /** Not started yet, or it waits for its next start: `reason` as in a kubelet's status, such as CrashLoopBackOff. */
  | { readonly kind: "waiting"; readonly reason: string; readonly message: string }
  | { readonly kind: "running"; readonly startedAt: number }
  | EndedContainer;

export type ContainerProcess = {
  readonly state: ContainerProcessState;
  /** How the process before this one ended. */
  readonly last?: EndedContainer | undefined;
  /** How often it was started again. */
  readonly restarts: number;
  readonly ready: boolean;
};

/** What `kubectl logs` can ask for. */
export type ContainerLogOptions = {
  readonly container: string;
  /** The log of the start before the newest one. */
  readonly previous: boolean;
  readonly follow: boolean;
  readonly timestamps: boolean;
  readonly tailLines?: number | undefined;
  /** Milliseconds since the epoch. */
  readonly since?: number | undefined;
  readonly limitBytes?: number | undefined;
};

export type PodProcesses = {
  /** Whether this Pod runs as processes. */
  readonly runs: (pod: Pod) => boolean;
  /** Starts the processes of a Pod, or keeps those that run. Processes that `stop` ended start again, which counts as a restart. */
  readonly ensure: (pod: Pod) => void;
  /**
   * SIGTERM, and SIGKILL after the grace period; 0: SIGKILL at once. A second call may shorten the grace period, never extend it. The
   * containers of a Pod that never ran become "ended" too, with `startedAt` 0.
   */
  readonly stop: (pod: Pod, graceMs: number) => void;
  /** The Pod's object is gone: ends processes that still run at once, and forgets the Pod and its files. */
  readonly forget: (uid: string) => void;
  /** By container name; undefined: not known yet. After `stop`, every container becomes "ended". */
  readonly states: (uid: string) => ReadonlyMap<string, ContainerProcess> | undefined;
  /** Calls the listener with the uid of every Pod whose states change. */
  readonly subscribe: (listener: (uid: string) => void) => () => void;
  /**
   * Ends the processes of all Pods but these: those of Pods that were deleted while no kubelet ran. Called once; processes that become
   * known later count too, unless `ensure` was called for their Pod.
   */
  readonly retain: (uids: ReadonlySet<string>) => void;
  /** The log as it is in its file, in chunks; ends with the signal, and without `follow` at its end. undefined: there is no such log. */
  readonly readLog: (uid: string, options: ContainerLogOptions, signal: AbortSignal) => AsyncIterable<Uint8Array> | undefined;
};
