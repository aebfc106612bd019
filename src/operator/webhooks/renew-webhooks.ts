/**
 * One pass over the certificates of this cluster's webhooks: what is there is read, and the next step is taken. Stopped anywhere, the next pass continues, because
 * nothing is remembered but the time since when all clients trust the authority; after a restart that time begins again.
 */
import { err, ok, type Clock, type Result } from "#base";
import type { WebhookClient, WebhookInventoryEntry } from "#bundle";
import { FIELD_MANAGER } from "#controller-runtime";
import { describeObject, secrets, type KubeObject } from "#kube";
import type { KubeClient } from "#kube-client";
import { decideWebhookRenewal, isDeliveredDue, issueWebhookCertificate, trustBundle, type CellAuthorities } from "#pki";
import { bundlePatch, bundlesOf, certificatePatch, CLIENT_RESOURCES, isManagedElsewhere, secretText } from "./webhook-objects.ts";

export type WebhookPassContext = {
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly authorities: CellAuthorities;
  /** By Secret, since when all clients have been seen with the current authority. */
  readonly trustedSince: Map<string, number>;
};

export type WebhookPass = {
  /** Objects whose bundle was changed, and Secrets with a new certificate. */
  readonly changed: readonly string[];
  /** A step is waited for: the next pass should be soon. */
  readonly pending: boolean;
};

const UNCHANGED: WebhookPass = { changed: [], pending: false };

export async function renewWebhook(context: WebhookPassContext, entry: WebhookInventoryEntry): Promise<Result<WebhookPass, string>> {
  const { client, clock, signal, authorities, trustedSince } = context;
  const { namespace, secretName: name, dnsNames } = entry;
  const secret = await client.get<KubeObject>(secrets, { namespace, name }, { signal });
  if (!secret.ok) return err(`Secret ${namespace}/${name}: ${secret.error.message}`);
  if (isManagedElsewhere(secret.value)) return ok(UNCHANGED);
  const clients = await readClients(context, entry.clients);
  if (!clients.ok) return clients;
  const key = `${namespace}/${name}/${authorities.current.certificate}`;
  const decision = decideWebhookRenewal({
    authorities,
    served: secretText(secret.value, "tls.crt"),
    servedAuthority: secretText(secret.value, "ca.crt") ?? "",
    dnsNames,
    clients: clients.value.flatMap(bundlesOf),
    trustedSince: trustedSince.get(key),
    now: clock.now(),
  });
  if (!decision.trusted) trustedSince.delete(key);
  else if (!trustedSince.has(key)) trustedSince.set(key, clock.now());
  const changed = decision.trust === undefined ? ok([]) : await trustEverywhere(context, clients.value, decision.trust);
  if (!changed.ok) return changed;
  if (!decision.issue) return ok({ changed: changed.value, pending: decision.due });
  const issued = issueWebhookCertificate(authorities, { dnsNames }, clock.now());
  if (!issued.ok) return err(`Secret ${namespace}/${name}: ${issued.error}`);
  const patch = certificatePatch(issued.value, trustBundle(authorities));
  const written = await client.patch<KubeObject>(secrets, { namespace, name }, patch, { fieldManager: FIELD_MANAGER, signal });
  if (!written.ok) return err(`Secret ${namespace}/${name}: ${written.error.message}`);
  return ok({ changed: [...changed.value, describeObject(written.value)], pending: false });
}

/** Before the first certificate is due, this cluster needs no authority for them. */
export async function isAnyDue(
  { client, clock, signal }: Pick<WebhookPassContext, "client" | "clock" | "signal">,
  entries: readonly WebhookInventoryEntry[],
): Promise<boolean> {
  for (const { namespace, secretName: name } of entries) {
    const secret = await client.get<KubeObject>(secrets, { namespace, name }, { signal });
    // an error is reported by the pass
    if (!secret.ok || (!isManagedElsewhere(secret.value) && isDeliveredDue(secretText(secret.value, "tls.crt"), clock.now()))) return true;
  }
  return false;
}

/** Those that exist, and that cert-manager does not write. */
async function readClients(
  { client, signal }: WebhookPassContext,
  clients: readonly WebhookClient[],
): Promise<Result<readonly KubeObject[], string>> {
  const found: KubeObject[] = [];
  for (const { kind, name } of clients) {
    const object = await client.get<KubeObject>(CLIENT_RESOURCES[kind], { name }, { signal });
    if (!object.ok && object.error.kind !== "not-found") return err(`${kind} ${name}: ${object.error.message}`);
    if (object.ok && !isManagedElsewhere(object.value)) found.push({ ...object.value, kind });
  }
  return ok(found);
}

async function trustEverywhere(
  { client, signal }: WebhookPassContext,
  objects: readonly KubeObject[],
  trust: string,
): Promise<Result<readonly string[], string>> {
  const changed: string[] = [];
  for (const object of objects.filter((one) => bundlesOf(one).some((bundle) => bundle !== trust))) {
    const { kind, metadata } = object;
    if (kind !== "CustomResourceDefinition" && kind !== "MutatingWebhookConfiguration" && kind !== "ValidatingWebhookConfiguration")
      continue;
    const options = { fieldManager: FIELD_MANAGER, signal };
    const patched = await client.patch(CLIENT_RESOURCES[kind], { name: metadata.name }, bundlePatch(object, trust), options);
    if (!patched.ok) return err(`${describeObject(object)}: ${patched.error.message}`);
    changed.push(describeObject(object));
  }
  return ok(changed);
}
