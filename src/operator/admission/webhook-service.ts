/**
 * Keeps the certificate and the configuration of the admission webhook, as a service of the leader. Changes come in bursts, when many services are
 * applied at once: after a pass the next one waits a second, and takes all changes of that time together.
 */
import { MetricsRegistry, ok, sleep, type Result } from "#base";
import {
  bindLeaderService,
  Informer,
  startLoop,
  type BoundLeaderService,
  type LeaderService,
  type LeaderServiceContext,
  type LeaderServiceDeclaration,
} from "#controller-runtime";
import { configMaps, mutatingWebhookConfigurations, secrets, services } from "#kube";
import type { OperatorPart } from "../parts.ts";
import { configurationName, keepWebhook, type KeptWebhook } from "./keep-webhook.ts";
import { ADMISSION_AUTHORITY_SECRET, ADMISSION_CERTIFICATE_SECRET } from "./serving-secret.ts";
import { WEBHOOK_SERVICE, WebhookReplica, type WebhookReplicaOptions } from "./webhook-replica.ts";

const GAP_MS = 1_000;
const RETRY_MS = 15_000;
/** While an authority has to be trusted for a while. */
const LATER_MS = 300_000;
const LOOK_MS = 3_600_000;

type WebhookShared = Pick<WebhookReplicaOptions, "home" | "settings" | "random"> & { readonly replica: WebhookReplica };

/** Also the declaration for RBAC, of what it needs in its own namespace. */
export const admissionWebhookService: LeaderService<WebhookShared> = {
  name: "admission-webhook",
  homePermissions: [
    { resource: configMaps, verbs: ["list", "watch"] },
    { resource: secrets, verbs: ["create"] },
    { resource: secrets, verbs: ["get", "update"], names: [ADMISSION_AUTHORITY_SECRET] },
    { resource: secrets, verbs: ["get", "list", "update", "watch"], names: [ADMISSION_CERTIFICATE_SECRET] },
    { resource: services, verbs: ["create"] },
    { resource: services, verbs: ["patch"], names: [WEBHOOK_SERVICE] },
  ],
  start: (context) => Promise.resolve(ok(startLoop(context.signal, (signal) => follow(context, signal)))),
};

/** Cluster-scoped, therefore not for an operator of some namespaces. */
export function webhookConfigurationRights(home: string): LeaderServiceDeclaration {
  const resource = mutatingWebhookConfigurations;
  return {
    name: "admission-webhook-configuration",
    permissions: [
      { resource, verbs: ["create"] },
      { resource, verbs: ["delete", "get", "list", "update", "watch"], names: [configurationName(home)] },
    ],
  };
}

/** The webhook in every replica, and its configuration in the leader. */
export function admissionPart(options: WebhookReplicaOptions): OperatorPart {
  const replica = new WebhookReplica(options);
  const everyReplica = {
    name: "admission-webhook",
    start: () => {
      replica.start();
      return Promise.resolve(ok({ health: () => replica.health(), close: () => replica.close() }));
    },
  };
  const service: BoundLeaderService = bindLeaderService(admissionWebhookService, { ...options, replica });
  return { name: "admission-webhook", everyReplica: [everyReplica], services: [service] };
}

type ServiceContext = LeaderServiceContext & WebhookShared;

async function follow(context: ServiceContext, signal: AbortSignal): Promise<Result<void, string>> {
  const { replica, clock, logger } = context;
  const drift = followConfiguration(context, signal);
  const trustedSince = new Map<string, number>();
  let logged = "";
  // without the whole index, services would lose their webhook
  let running = await replica.synced(signal);
  while (running) {
    const { index } = replica;
    const kept = await keepWebhook({ ...context, signal, targets: index.targets(), address: replica.address(), trustedSince });
    if (kept.ok && kept.value.changed.length > 0) logger.info("the admission webhook was configured", { objects: kept.value.changed });
    const reason = kept.ok ? "" : kept.error;
    if (reason !== "" && reason !== logged && !signal.aborted) logger.warn("the admission webhook cannot be configured", { reason });
    logged = reason;
    running = (await sleep(clock, GAP_MS, signal)) && (await replica.wakeup.wait(clock, waitAfter(kept), signal));
  }
  await drift;
  return ok(undefined);
}

function waitAfter(kept: Result<KeptWebhook, string>): number {
  if (!kept.ok) return RETRY_MS;
  return { soon: 0, later: LATER_MS, none: LOOK_MS }[kept.value.next];
}

/** A change by another client is noticed at once. */
async function followConfiguration({ client, clock, random, logger, home, replica }: ServiceContext, signal: AbortSignal): Promise<void> {
  const fieldSelector = `metadata.name=${configurationName(home)}`;
  const common = { client, clock, random, logger, metrics: new MetricsRegistry() };
  const informer = new Informer({ ...common, resource: mutatingWebhookConfigurations, fieldSelector, mayBeForbidden: true });
  informer.subscribe(() => replica.wakeup.wake());
  await informer.run(signal);
}
