/**
 * A KubeClient whose writes are fenced: rejected here when the lease cannot be proven, given no more time than the proof
 * lasts, and cancelled at its end. Reads are not fenced: a stale read is harmless without a write.
 */
import { err } from "#base";
import type { ClientResult, CallOptions, KubeClient } from "#kube-client";
import { linkSignals } from "../signals.ts";
import type { Fence } from "./fence.ts";

/** For a write without a timeout. */
const WRITE_TIMEOUT_MS = 10_000;

export function fencedClient(client: KubeClient, fence: Fence): KubeClient {
  async function write<T>(options: CallOptions | undefined, send: (limits: CallOptions) => ClientResult<T>): ClientResult<T> {
    const left = fence.remainingMs();
    if (left <= 0) return err({ kind: "cancelled", message: "not sent: this process can no longer prove that it leads", retry: "safe" });
    const linked = linkSignals(options?.signal, fence.signal);
    const end = fence.begin();
    const timeoutMs = Math.min(options?.timeoutMs ?? WRITE_TIMEOUT_MS, left);
    // checked again where the request is sent: a process may be suspended while it waits for a connection or for its next attempt
    const answer = await send({ signal: linked.signal, timeoutMs, mayLeave: () => fence.remainingMs() > 0 });
    linked.release();
    end(answer.ok ? undefined : answer.error);
    return answer;
  }
  return {
    get: (resource, key, options) => client.get(resource, key, options),
    list: (resource, query, options) => client.list(resource, query, options),
    watch: (resource, query, signal, onOpen) => client.watch(resource, query, signal, onOpen),
    raw: (path, options) => client.raw(path, options),
    close: () => client.close(),
    create: (resource, object, options) => write(options, (limits) => client.create(resource, object, { ...options, ...limits })),
    update: (resource, object, options) => write(options, (limits) => client.update(resource, object, { ...options, ...limits })),
    apply: (resource, object, options) => write(options, (limits) => client.apply(resource, object, { ...options, ...limits })),
    patch: (resource, key, body, options) => write(options, (limits) => client.patch(resource, key, body, { ...options, ...limits })),
    deleteCollection: (resource, query, options) =>
      write(options, (limits) => client.deleteCollection(resource, query, { ...options, ...limits })),
    delete: (resource, key, options) => write(options, (limits) => client.delete(resource, key, { ...options, ...limits })),
  };
}
