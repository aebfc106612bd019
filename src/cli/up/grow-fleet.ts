/**
 * Makes the laptop fleet: the management cluster by an installation, then its children and the shop, each when what it belongs to owns itself.
 *
 * What was created is recorded in the management cluster, so that a restart continues, and what a user has deleted stays deleted.
 */
import { err, ok, sleep, type Result } from "#base";
import { latticeClusters } from "#crds";
import type { Fleet } from "#fleet";
import { runInstall, type InstallProgress } from "#install";
import { configMaps } from "#kube";
import { OPERATOR_NAMESPACE } from "#operator";
import type { FleetClients } from "../install/fleet-clients.ts";
import { fleetHost, fleetManagement } from "../install/fleet-host.ts";
import type { CommandIo } from "../io.ts";
import { localEndpoints } from "../local-endpoints.ts";
import {
  isPlanComplete,
  LAPTOP_VERSION,
  localClusterObject,
  MANAGEMENT,
  nameOfItem,
  nextItems,
  SHOP_CLUSTER,
  SHOP_ITEM,
  type PlannedCluster,
  type PlannedItem,
} from "./laptop-plan.ts";
import { applyShop } from "./shop.ts";

const FIELD_MANAGER = "lattice-up";
/** In the management cluster: what was created. */
const RECORD = { namespace: OPERATOR_NAMESPACE, name: "lattice-up" };
const RETRY_MS = 500;
/** Of steps that fail one after the other: processes of the fleet may be killed all the time. */
const PATIENCE_MS = 300_000;

export type GrowOptions = {
  readonly fleet: Fleet;
  readonly clients: FleetClients;
  readonly ownsItself: (cluster: string) => boolean;
  readonly exists: (cluster: string) => boolean;
  /** Resolves after the next change of a cluster. */
  readonly nextChange: () => Promise<void>;
  readonly report: (progress: InstallProgress) => void;
  /** The shop exists, from now or from before. */
  readonly onShop: () => void;
};

/** Resolves when the plan is complete. Errors that pass are waited out. */
export async function growFleet(io: CommandIo, options: GrowOptions): Promise<Result<void, string>> {
  const installing = installManagement(io, options);
  const stop = new AbortController();
  const signal = AbortSignal.any([io.signal, stop.signal]);
  const growing = createItems({ ...io, signal }, options);
  const installed = await installing;
  if (!installed.ok) stop.abort();
  await growing;
  return installed;
}

async function installManagement(io: CommandIo, { fleet, clients, report }: GrowOptions): Promise<Result<void, string>> {
  const { clock, random, signal } = io;
  const endpoints = await localEndpoints();
  if (!endpoints.ok) return endpoints;
  const installed = await runInstall({
    name: MANAGEMENT,
    host: fleetHost(fleet, clients),
    management: fleetManagement(fleet, clients, { name: MANAGEMENT, kubeconfig: "its kubeconfig" }),
    cluster: localClusterObject({ name: MANAGEMENT, version: LAPTOP_VERSION, workers: 0, endpoints: endpoints.value }),
    beside: [],
    clock,
    random,
    signal,
    identity: `lattice-up-${io.hostname}`,
    patienceMs: PATIENCE_MS,
    report,
  });
  return installed.ok || installed.error.kind === "stopped" ? ok(undefined) : err(installed.error.message);
}

async function createItems(io: CommandIo, options: GrowOptions): Promise<void> {
  const { clock, signal } = io;
  while (!signal.aborted) {
    const created = options.ownsItself(MANAGEMENT) ? await readRecord(options) : undefined;
    if (created !== undefined) {
      if (created.has(SHOP_ITEM)) options.onShop();
      if (isPlanComplete(created, options.exists)) return;
      for (const item of nextItems({ created, ownsItself: options.ownsItself })) {
        const made = await createItem(io, options, item);
        if (made.ok) await recordItem(options, nameOfItem(item));
      }
    }
    await Promise.race([options.nextChange(), sleep(clock, RETRY_MS, signal)]);
    // many changes come together
    await sleep(clock, RETRY_MS / 2, signal);
  }
}

/** Undefined: it cannot be read now. */
async function readRecord({ clients }: GrowOptions): Promise<ReadonlySet<string> | undefined> {
  const client = await clients.find(MANAGEMENT);
  if (!client.ok || client.value === undefined) return undefined;
  const found = await client.value.get(configMaps, RECORD);
  if (found.ok) return new Set([MANAGEMENT, ...Object.keys(found.value.data ?? {})]);
  return found.error.kind === "not-found" ? new Set([MANAGEMENT]) : undefined;
}

/** After a crash before it, the item is created again, which changes nothing. */
async function recordItem({ clients }: GrowOptions, item: string): Promise<void> {
  const client = await clients.find(MANAGEMENT);
  if (!client.ok || client.value === undefined) return;
  const object = { apiVersion: "v1", kind: "ConfigMap", metadata: RECORD, data: { [item]: "created" } };
  // one field manager for each item: an apply keeps the keys of the others
  await client.value.apply(configMaps, object, { fieldManager: `${FIELD_MANAGER}-${item}`, force: true });
}

async function createItem(io: CommandIo, options: GrowOptions, item: PlannedItem): Promise<Result<void, string>> {
  const client = await options.clients.find(item.kind === "shop" ? SHOP_CLUSTER : item.cluster.parent);
  if (!client.ok) return client;
  if (client.value === undefined) return err("the cluster is gone");
  if (item.kind === "shop") {
    const shop = await applyShop(io, client.value);
    return shop.ok ? ok(undefined) : shop;
  }
  const object = await childObject(item.cluster);
  if (!object.ok) return object;
  const created = await client.value.create(latticeClusters, object.value, { fieldManager: FIELD_MANAGER });
  return created.ok || created.error.kind === "already-exists" ? ok(undefined) : err(created.error.message);
}

async function childObject({ name, workers, isCell }: PlannedCluster) {
  const endpoints = isCell ? await localEndpoints() : ok(undefined);
  return endpoints.ok ? ok(localClusterObject({ name, version: LAPTOP_VERSION, workers, endpoints: endpoints.value })) : endpoints;
}
