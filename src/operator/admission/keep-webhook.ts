/**
 * One pass of the leader over what API servers need to call the webhook: authorities, serving certificate, Service and configuration. Stopped
 * anywhere, the next pass continues: nothing is remembered but the time since when the configuration has had the current authority.
 *
 * Before the first service in patch mode, and after the last one, there is no configuration, and nothing is issued.
 */
import { isIP } from "node:net";
import { err, ok, type Clock, type Result } from "#base";
import { FIELD_MANAGER } from "#controller-runtime";
import { webhookConfiguration, type WebhookAddress } from "#http";
import type { WorkloadTarget } from "#workload-patch";
import { field, jsonEqual, mutatingWebhookConfigurations, secrets, services, type KubeObject, type Resource } from "#kube";
import type { KubeClient } from "#kube-client";
import {
  combineBundles,
  decideWebhookRenewal,
  isIssuedWithin,
  issueWebhookCertificate,
  trustBundle,
  type CellAuthorities,
  type WebhookRenewal,
} from "#pki";
import { currentAuthorities } from "../cell/authority-secret.ts";
import { bundlesOf } from "../webhooks/webhook-objects.ts";
import {
  ADMISSION_AUTHORITY_SECRET,
  ADMISSION_CERTIFICATE_SECRET,
  readServing,
  servingSecret,
  type StoredServing,
} from "./serving-secret.ts";
import { WEBHOOK_PORT, WEBHOOK_SERVICE, type WebhookSettings } from "./webhook-replica.ts";

export type WebhookPassInput = {
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly home: string;
  readonly settings: WebhookSettings;
  readonly targets: readonly WorkloadTarget[];
  /** Undefined: this replica does not listen yet. */
  readonly address: WebhookAddress | undefined;
  /** By authority, since when the configuration has been seen with it. */
  readonly trustedSince: Map<string, number>;
};

export type KeptWebhook = {
  /** What was written. */
  readonly changed: readonly string[];
  /** "soon": a step follows as soon as possible. "later": a step is waited for. */
  readonly next: "soon" | "later" | "none";
};

const AUTHORITY_NAME = "lattice-admission";

/** Cluster-scoped: another operator of the cluster has another one. */
export function configurationName(home: string): string {
  return home === "lattice-system" ? "lattice-workload-patches" : `lattice-workload-patches-${home}`;
}

export async function keepWebhook(input: WebhookPassInput): Promise<Result<KeptWebhook, string>> {
  const { client, clock, signal, home, targets } = input;
  const configuration = await find(input, mutatingWebhookConfigurations, { name: configurationName(home) });
  if (!configuration.ok) return configuration;
  if (targets.length === 0) return remove(input, configuration.value);
  const authorities = await currentAuthorities({
    client,
    clock,
    signal,
    home,
    cell: AUTHORITY_NAME,
    secretName: ADMISSION_AUTHORITY_SECRET,
  });
  if (!authorities.ok) return authorities;
  const secret = await find(input, secrets, { namespace: home, name: ADMISSION_CERTIFICATE_SECRET });
  if (!secret.ok) return secret;
  const names = servingNames(home, input.settings);
  const served = servedIn(secret.value, authorities.value);
  const decision = decide(input, { authorities: authorities.value, served, names, configuration: configuration.value });
  const changed: string[] = [];
  if (decision.issue) {
    const issued = await issue(input, authorities.value, secret.value);
    if (!issued.ok) return issued;
    changed.push(`Secret ${ADMISSION_CERTIFICATE_SECRET}`);
  }
  const own = trustBundle(authorities.value);
  const trust = decision.trust ?? trustWith(own, served?.trust ?? "", clock.now());
  const written = await configure(input, configuration.value, trust);
  if (!written.ok) return written;
  return ok({ changed: [...changed, ...written.value], next: nextAfter(decision, input) });
}

/** An authority that the configuration has only now is seen there by the next pass. */
function nextAfter({ due, issue: issued, trusted }: WebhookRenewal, { address }: WebhookPassInput): KeptWebhook["next"] {
  if (!due || issued) return "none";
  return trusted || address === undefined ? "later" : "soon";
}

type Names = { readonly dnsNames: readonly string[]; readonly ipAddresses: readonly string[] };

/** The name of the Service is always part of it, so that a certificate fits both ways. */
function servingNames(home: string, settings: WebhookSettings): Names {
  const service = `${WEBHOOK_SERVICE}.${home}.svc`;
  if (settings.kind === "service") return { dnsNames: [service], ipAddresses: [] };
  const { host } = settings;
  return isIP(host) === 0 ? { dnsNames: [service, host], ipAddresses: [] } : { dnsNames: [service], ipAddresses: [host] };
}

/** Undefined: there is none that a replica could load, or none that API servers would accept: its authority is neither ours nor beside it. */
function servedIn(secret: KubeObject | undefined, authorities: CellAuthorities): StoredServing | undefined {
  const read = secret === undefined ? undefined : readServing(secret);
  if (read?.ok !== true) return undefined;
  return [trustBundle(authorities), read.value.trust].some((bundle) => isIssuedWithin(read.value, bundle)) ? read.value : undefined;
}

type Observed = {
  readonly authorities: CellAuthorities;
  readonly served: StoredServing | undefined;
  readonly names: Names;
  readonly configuration: KubeObject | undefined;
};

function decide({ clock, trustedSince }: WebhookPassInput, { authorities, served, names, configuration }: Observed): WebhookRenewal {
  const key = authorities.current.certificate;
  const decision = decideWebhookRenewal({
    authorities,
    ...names,
    served: served?.certificate,
    servedAuthority: served?.trust ?? "",
    // what a configuration trusts that was left behind does not matter while nothing can be served
    clients: configuration === undefined || served === undefined ? [] : bundlesOf(configuration),
    trustedSince: trustedSince.get(key),
    now: clock.now(),
  });
  if (!decision.trusted) trustedSince.delete(key);
  else if (!trustedSince.has(key)) trustedSince.set(key, clock.now());
  return decision;
}

async function issue(
  { client, clock, signal, home, settings }: WebhookPassInput,
  authorities: CellAuthorities,
  stored: KubeObject | undefined,
): Promise<Result<void, string>> {
  const issued = issueWebhookCertificate(authorities, servingNames(home, settings), clock.now());
  if (!issued.ok) return err(`the certificate of the webhook cannot be issued: ${issued.error}`);
  const wanted = servingSecret(home, issued.value, trustBundle(authorities));
  const written =
    stored === undefined
      ? await client.create(secrets, wanted, { signal })
      : await client.update(secrets, { ...stored, data: field(wanted, "data") } as KubeObject, { signal });
  return written.ok ? ok(undefined) : err(`Secret ${home}/${ADMISSION_CERTIFICATE_SECRET}: ${written.error.message}`);
}

/** Without an address the configuration stays as it is. */
async function configure(
  input: WebhookPassInput,
  stored: KubeObject | undefined,
  trust: string,
): Promise<Result<readonly string[], string>> {
  const { client, signal, home, targets, address } = input;
  if (address === undefined) return ok([]);
  const name = configurationName(home);
  const wanted = webhookConfiguration({ name, targets, address, trust });
  if (wanted === undefined || isConfigured(stored, wanted)) return ok([]);
  const service = address.kind === "service" ? await applyService(input) : ok(undefined);
  if (!service.ok) return service;
  const { metadata } = stored ?? wanted;
  const labels = { ...metadata.labels, ...wanted.metadata.labels };
  const written =
    stored === undefined
      ? await client.create(mutatingWebhookConfigurations, wanted, { signal })
      : await client.update(mutatingWebhookConfigurations, { ...wanted, metadata: { ...metadata, labels } }, { signal });
  return written.ok ? ok([`MutatingWebhookConfiguration ${name}`]) : err(`MutatingWebhookConfiguration ${name}: ${written.error.message}`);
}

function isConfigured(stored: KubeObject | undefined, wanted: KubeObject): boolean {
  return stored !== undefined && jsonEqual(field(stored, "webhooks"), field(wanted, "webhooks"));
}

/** All replicas serve it; those that are not ready are left out. */
async function applyService({ client, signal, home }: WebhookPassInput): Promise<Result<void, string>> {
  const ports = [{ name: "https", port: 443, targetPort: WEBHOOK_PORT, protocol: "TCP" as const }];
  const metadata = { name: WEBHOOK_SERVICE, namespace: home, labels: { "app.kubernetes.io/managed-by": "lattice" } };
  const service = {
    apiVersion: "v1",
    kind: "Service",
    metadata,
    spec: { selector: { "app.kubernetes.io/name": "lattice-operator" }, ports },
  };
  const applied = await client.apply(services, service, { fieldManager: FIELD_MANAGER, force: true, signal });
  return applied.ok ? ok(undefined) : err(`Service ${home}/${WEBHOOK_SERVICE}: ${applied.error.message}`);
}

async function remove({ client, signal }: WebhookPassInput, stored: KubeObject | undefined): Promise<Result<KeptWebhook, string>> {
  if (stored === undefined) return ok({ changed: [], next: "none" });
  const { name } = stored.metadata;
  const removed = await client.delete(mutatingWebhookConfigurations, { name }, { signal });
  if (!removed.ok && removed.error.kind !== "not-found") return err(`MutatingWebhookConfiguration ${name}: ${removed.error.message}`);
  return ok({ changed: [`MutatingWebhookConfiguration ${name}`], next: "none" });
}

/** A certificate of a lost authority is served until it is due: its authority is in its Secret. */
function trustWith(own: string, other: string, now: number): string {
  const combined = combineBundles(own, other, now);
  return combined.ok ? combined.value : own;
}

async function find<T extends KubeObject>(
  { client, signal }: WebhookPassInput,
  resource: Resource<T>,
  key: { readonly namespace?: string; readonly name: string },
): Promise<Result<T | undefined, string>> {
  const found = await client.get<T>(resource, key, { signal });
  if (found.ok) return ok(found.value);
  return found.error.kind === "not-found" ? ok(undefined) : err(`${resource.kind} ${key.name}: ${found.error.message}`);
}
