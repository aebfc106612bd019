/**
 * Renews the certificates of Cluster API's webhooks in this cluster, as a service of the leader. They came with the manifests of the cluster, which has no
 * cert-manager; ConfigMap lattice-webhook-certificates lists them. A cluster without that ConfigMap has nothing to renew.
 */
import { ok, sleep, type Result } from "#base";
import { parseWebhookInventory, WEBHOOK_INVENTORY, type WebhookInventoryEntry } from "#bundle";
import { bindLeaderService, startLoop, type LeaderService, type LeaderServiceContext } from "#controller-runtime";
import { configMaps, secrets, type ConfigMap, type KubeObject } from "#kube";
import { currentAuthorities } from "../cell/authority-secret.ts";
import { isAnyDue, renewWebhook, type WebhookPass, type WebhookPassContext } from "./renew-webhooks.ts";

export const WEBHOOK_AUTHORITY_SECRET = "lattice-webhook-ca";
const AUTHORITY_NAME = "lattice-webhooks";
/** Certificates live for a year. */
const LOOK_MS = 3_600_000;
/** While a step is waited for, or failed. */
const SOON_MS = 300_000;

export type WebhookRenewalShared = {
  /** The operator's namespace. */
  readonly home: string;
};

/** Also the declaration for RBAC. The role for the Secrets, definitions and webhook configurations comes with the ConfigMap, and names each. */
export const webhookRenewalService: LeaderService<WebhookRenewalShared> = {
  name: "webhook-renewal",
  reads: [configMaps],
  homePermissions: [{ resource: secrets, verbs: ["get", "create", "update"] }],
  start: (context) => Promise.resolve(ok(startLoop(context.signal, (signal) => follow(context, signal)))),
};

export const bindWebhookRenewal = (shared: WebhookRenewalShared) => bindLeaderService(webhookRenewalService, shared);

type ServiceContext = LeaderServiceContext & WebhookRenewalShared;

async function follow(context: ServiceContext, signal: AbortSignal): Promise<Result<void, string>> {
  const { cache, clock, home, logger } = context;
  const trustedSince = new Map<string, number>();
  let logged = "";
  for (;;) {
    const map = cache.get(configMaps, { namespace: home, name: WEBHOOK_INVENTORY });
    const { changed, pending, problems } = map === undefined ? IDLE : await pass({ ...context, signal }, map, trustedSince);
    if (changed.length > 0) logger.info("certificates of webhooks were renewed, or their authority", { objects: changed });
    const reason = problems.join("; ");
    if (reason !== "" && reason !== logged && !signal.aborted) logger.warn("certificates of webhooks cannot be renewed", { reason });
    logged = reason;
    if (!(await sleep(clock, pending || reason !== "" ? SOON_MS : LOOK_MS, signal))) return ok(undefined);
  }
}

type PassResult = WebhookPass & { readonly problems: readonly string[] };
const IDLE: PassResult = { changed: [], pending: false, problems: [] };

/** One Secret that cannot be renewed does not stop the others. */
export async function pass(
  context: Pick<ServiceContext, "client" | "clock" | "home" | "signal">,
  map: ConfigMap,
  trustedSince: WebhookPassContext["trustedSince"],
): Promise<PassResult> {
  const inventory = parseWebhookInventory(map);
  if (!inventory.ok) return { ...IDLE, problems: [inventory.error] };
  const { client, home, signal } = context;
  const stored = await client.get<KubeObject>(secrets, { namespace: home, name: WEBHOOK_AUTHORITY_SECRET }, { signal });
  const isFirst = !stored.ok && stored.error.kind === "not-found";
  if (isFirst && !(await isAnyDue(context, inventory.value))) return IDLE;
  const authorities = await currentAuthorities({ ...context, cell: AUTHORITY_NAME, secretName: WEBHOOK_AUTHORITY_SECRET });
  if (!authorities.ok) return { ...IDLE, problems: [authorities.error] };
  return renewAll({ ...context, authorities: authorities.value, trustedSince }, inventory.value);
}

async function renewAll(context: WebhookPassContext, entries: readonly WebhookInventoryEntry[]): Promise<PassResult> {
  const [changed, problems]: [string[], string[]] = [[], []];
  let pending = false;
  for (const entry of entries) {
    const renewed = await renewWebhook(context, entry);
    if (!renewed.ok) problems.push(renewed.error);
    else {
      changed.push(...renewed.value.changed);
      pending ||= renewed.value.pending;
    }
  }
  return { changed, pending, problems };
}
