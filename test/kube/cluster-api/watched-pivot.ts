/**
 * The invariants of a pivot between two real API servers, by watches on both: never are both Clusters unpaused, and no object is deleted at the source
 * before the target has it. What the watches show together need not have been true at the same time, so a suspicion is confirmed by reads: both sides
 * are read, and the first one again with the same version.
 *
 * All versions of all objects are kept, for a comparison of the last one at the source with those at the target.
 */
import { capiClusters, fieldAt, keyText, type Json, type JsonObject, type KubeObject, type Resource } from "#kube";
import type { KubeClient } from "#kube-client";
import { clientOf } from "../../builders/kubeconfig-client.ts";
import { contentOf, MOVED_KINDS } from "../../builders/move-world.ts";

export type Side = "source" | "target";
export type Seen = {
  readonly side: Side;
  readonly type: "ADDED" | "MODIFIED" | "DELETED";
  readonly kind: string;
  readonly object: KubeObject;
};

export type WatchedPivotOptions = {
  /** Kubeconfigs. */
  readonly source: string;
  readonly target: string;
  readonly namespace: string;
  readonly cluster: string;
  /** Called with every event of a watch. */
  readonly onSeen: (event: Seen) => void;
};

export type WatchedPivot = {
  /** What was wrong; empty when nothing was. */
  readonly wrong: readonly string[];
  /** By "kind namespace/name": the contents of all versions, oldest first, of objects that were not deleted but by the move. */
  readonly versions: (side: Side) => ReadonlyMap<string, readonly Json[]>;
  readonly close: () => Promise<void>;
};

const AGAIN_MS = 50;
const DELETE_FOR_MOVE = "clusterctl.cluster.x-k8s.io/delete-for-move";

/** A server that was killed is asked again at once: a client that waits between attempts would miss what the mover writes as soon as it answers. */
const AT_ONCE = { attempts: 1, backoff: { initialMs: 1, maxMs: 1, factor: 1 } };

export async function watchPivot(options: WatchedPivotOptions): Promise<WatchedPivot> {
  const { namespace, cluster, onSeen } = options;
  const open = (kubeconfig: string) => clientOf(kubeconfig, undefined, { retry: AT_ONCE });
  const clients = { source: await open(options.source), target: await open(options.target) };
  const wrong: string[] = [];
  const versions: Record<Side, Map<string, Json[]>> = { source: new Map(), target: new Map() };
  const stop = new AbortController();
  const checks = new Set<Promise<void>>();
  let moving = false;

  const check = (work: Promise<void>) => {
    const settled = work.catch((problem: unknown) => void wrong.push(String(problem))).finally(() => checks.delete(settled));
    checks.add(settled);
  };
  const unpausedVersion = async (side: Side): Promise<string | undefined> => {
    const found = await readUntilAnswered(clients[side], capiClusters, { namespace, name: cluster }, stop.signal);
    return found === undefined || fieldAt(found, "spec", "paused") === true ? undefined : found.metadata.resourceVersion;
  };
  const checkOwners = async (): Promise<void> => {
    const first = await unpausedVersion("source");
    if (first === undefined || (await unpausedVersion("target")) === undefined) return;
    if ((await unpausedVersion("source")) === first) wrong.push("both sides are unpaused");
  };
  const checkKept = async (resource: Resource, name: string): Promise<void> => {
    const found = await readUntilAnswered(clients.target, resource, { namespace, name }, stop.signal);
    if (found === undefined && !stop.signal.aborted) wrong.push(`${resource.kind} ${name} is on neither side`);
  };
  const see = (side: Side, resource: Resource, { type, object }: Pick<Seen, "type" | "object">): void => {
    const { name } = object.metadata;
    if (resource.kind === "Cluster") {
      if (side === "source" && fieldAt(object, "spec", "paused") === true) moving = true;
      check(checkOwners());
    }
    const isMoves = name.startsWith("lattice-move") || name === "kube-root-ca.crt";
    if (side === "source" && type === "DELETED" && moving && !isMoves) check(checkKept(resource, name));
    const isMovedAway = object.metadata.annotations?.[DELETE_FOR_MOVE] !== undefined;
    const what = `${resource.kind} ${keyText({ namespace, name })}`;
    // while the source is paused only the move deletes there, objects without finalizers without an annotation
    const isDeletedByMove = isMovedAway || (side === "source" && moving);
    if (type === "DELETED" && !isDeletedByMove) versions[side].delete(what);
    if (type !== "DELETED" && !isMovedAway && object.metadata.deletionTimestamp === undefined && !isMoves) {
      const known = versions[side].get(what) ?? [];
      versions[side].set(what, [...known, bodyOf(contentOf(object))]);
    }
    onSeen({ side, type, kind: resource.kind, object });
  };
  const running = (["source", "target"] as const).flatMap((side) =>
    MOVED_KINDS.map((resource) =>
      follow(clients[side], resource, { namespace, signal: stop.signal, see: (event) => see(side, resource, event) }),
    ),
  );
  return {
    wrong,
    versions: (side) => versions[side],
    close: async () => {
      await Promise.all(checks);
      stop.abort();
      await Promise.all(running);
      await Promise.all(Object.values(clients).map((client) => client.close()));
    },
  };
}

/** Items of lists have no kind, and events have. */
export function bodyOf(content: Json): Json {
  const { apiVersion: _version, kind: _kind, ...body } = content as JsonObject;
  return body;
}

type Following = { readonly namespace: string; readonly signal: AbortSignal; readonly see: (event: Pick<Seen, "type" | "object">) => void };

/** Watches for ever: a server that is killed is watched again, and what was missed is read by a list. */
async function follow(client: KubeClient, resource: Resource, { namespace, signal, see }: Following): Promise<void> {
  const known = new Map<string, KubeObject>();
  while (!signal.aborted) {
    const listed = await client.list<KubeObject>(resource, { namespace }, { signal });
    if (listed.ok) {
      const present = new Set<string>();
      for (const object of listed.value.items) {
        present.add(object.metadata.name);
        if (known.get(object.metadata.name)?.metadata.resourceVersion === object.metadata.resourceVersion) continue;
        see({ type: known.has(object.metadata.name) ? "MODIFIED" : "ADDED", object });
        known.set(object.metadata.name, object);
      }
      for (const [name, object] of known) {
        if (present.has(name)) continue;
        known.delete(name);
        see({ type: "DELETED", object });
      }
      const query = { namespace, resourceVersion: listed.value.metadata.resourceVersion };
      for await (const event of client.watch<KubeObject>(resource, query, signal)) {
        if (!event.ok) break;
        if (event.value.type === "BOOKMARK") continue;
        const { object, type } = event.value;
        if (type === "DELETED") known.delete(object.metadata.name);
        else known.set(object.metadata.name, object);
        see(event.value);
      }
    }
    await new Promise((resolve) => setTimeout(resolve, AGAIN_MS));
  }
}

async function readUntilAnswered(
  client: KubeClient,
  resource: Resource,
  key: { readonly namespace: string; readonly name: string },
  signal: AbortSignal,
): Promise<KubeObject | undefined> {
  while (!signal.aborted) {
    const found = await client.get<KubeObject>(resource, key, { signal });
    if (found.ok) return found.value;
    if (found.error.kind === "not-found") return undefined;
    await new Promise((resolve) => setTimeout(resolve, AGAIN_MS));
  }
  return undefined;
}
