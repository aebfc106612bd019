/**
 * Notices at once that a kind is served or removed, by watching CustomResourceDefinitions. Without it an informer of a missing kind asks
 * again after up to half a minute, and that remains where definitions may not be read.
 *
 * Metadata is enough: the last change of a new definition is that it is established. A definition can be megabytes long.
 */
import { silentLogger, type Clock, type Logger, type Metrics } from "#base";
import { customResourceDefinitions, metadataOf } from "#kube";
import type { KubeReader, KubeWatcher } from "#kube-client";
import { linkSignals } from "../signals.ts";
import { Informer } from "./informer.ts";

export type DefinitionWatchOptions = {
  readonly client: KubeReader & KubeWatcher;
  readonly clock: Clock;
  readonly random: () => number;
  readonly logger: Logger;
  readonly metrics: Metrics;
  /** `name`: "plural.group", as definitions are named. */
  readonly onChange: (name: string, definition: "exists" | "removed") => void;
  /** Definitions cannot be read, or not any more: no change is reported from now on. */
  readonly onUnreadable: () => void;
};

export type DefinitionWatch = {
  /** Resolves when the signal fires, or when definitions cannot be read: then nothing is asked again. */
  readonly running: Promise<void>;
  /** Undefined: not known, because definitions are not listed yet or cannot be read. */
  readonly isDefined: (name: string) => boolean | undefined;
};

export function watchDefinitions(options: DefinitionWatchOptions, signal: AbortSignal): DefinitionWatch {
  const { logger, onChange, onUnreadable } = options;
  const resource = metadataOf(customResourceDefinitions);
  // silent: where it cannot read, one line of its own is enough; other failures are logged by the other informers
  const informer = new Informer({ ...options, logger: silentLogger, resource, optional: true, mayBeForbidden: true });
  const ending = linkSignals(signal);
  const endIfUnreadable = () => {
    if (informer.served || ending.signal.aborted) return;
    logger.info("definitions of kinds cannot be read; kinds are noticed within half a minute after they are installed");
    ending.abort();
    onUnreadable();
  };
  informer.subscribe(({ key, after }) => onChange(key.name, after === undefined ? "removed" : "exists"));
  informer.subscribeServed(endIfUnreadable);
  void informer.synced(ending.signal).then((synced) => synced && endIfUnreadable());
  return {
    running: informer.run(ending.signal).finally(ending.release),
    isDefined: (name) => (informer.served && !ending.signal.aborted ? informer.get({ name }) !== undefined : undefined),
  };
}
