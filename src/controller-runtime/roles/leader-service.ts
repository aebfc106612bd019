/**
 * A long-running thing that only the leader runs, such as a listener or a connection: data, like a controller. Its declaration is static, so that
 * RBAC and informers follow from it without an instance; `start` is called at the beginning of every term.
 *
 * The service must end when its signal fires. In a standby it does not exist, so its listener does not accept there.
 */
import type { Clock, Logger, Result } from "#base";
import type { Resource } from "#kube";
import type { KubeClient } from "#kube-client";
import type { CacheReader, Index } from "../cache.ts";
import type { EventNote } from "../events/event.ts";
import type { Need } from "../need.ts";

export type LeaderServiceDeclaration = {
  /** Unique in a manager: for logs, metrics and health. */
  readonly name: string;
  /** Kinds it reads from the cache. */
  readonly reads?: readonly Resource[];
  /** Kinds of `reads` that a cluster may lack. All others are waited for before the service starts. */
  readonly optional?: readonly Resource[];
  readonly indexes?: readonly Index[];
  /** Permissions that its own requests need. */
  readonly permissions?: readonly Need[];
  /** Permissions that it needs only in the namespace of the operator itself. */
  readonly homePermissions?: readonly Need[];
  /** Paths of the API server that are no resources, such as "/", and that it reads. Granted where it works in the whole cluster. */
  readonly paths?: readonly string[];
};

export type LeaderServiceContext = {
  readonly cache: CacheReader;
  /** Refuses writes once this process no longer leads. */
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Records an event about an object. */
  readonly record: (note: EventNote) => void;
  /** Fires when the term ends (gracefully or because the lease is lost), or when its role is stopped. */
  readonly signal: AbortSignal;
};

export type RunningLeaderService = {
  /** Resolves when it has ended for any reason; the error is the reason of an early end. */
  readonly ended: Promise<Result<void, string>>;
  /** Ends it and frees everything it uses. Called once, also after an early end. */
  readonly close: () => Promise<void>;
};

/** `Shared`: state that it uses beside its context. Passed to `bindLeaderService`. */
export type LeaderService<Shared = unknown> = LeaderServiceDeclaration & {
  /** An error, or an early end, is retried with growing waits. */
  readonly start: (context: LeaderServiceContext & Shared) => Promise<Result<RunningLeaderService, string>>;
};

/** A service with its state: the input of a manager. */
export type BoundLeaderService = LeaderServiceDeclaration & {
  readonly start: (context: LeaderServiceContext) => Promise<Result<RunningLeaderService, string>>;
};

export function bindLeaderService<Shared>(service: LeaderService<Shared>, shared: Shared): BoundLeaderService {
  return { ...service, start: (context) => service.start({ ...context, ...shared }) };
}

/** A service that is one loop: the loop returns when its signal fires, at the end of the term or when the service is closed. */
export function startLoop(term: AbortSignal, loop: (signal: AbortSignal) => Promise<Result<void, string>>): RunningLeaderService {
  const stop = new AbortController();
  const ended = loop(AbortSignal.any([term, stop.signal]));
  const close = async () => {
    stop.abort();
    await ended;
  };
  return { ended, close };
}
