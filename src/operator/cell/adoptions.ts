/**
 * Offers to clusters that this cell adopts: for each LatticeCluster with the annotation of an adoption a Secret with what its agent needs, until the agent has
 * connected. `lattice reparent` copies it into the cluster. The token in it is for one certificate request, and the key of the certificate stays in the cluster.
 */
import { base64OfText, err, ok, reveal, sleep, type Clock, type Logger, type Result, type Sensitive } from "#base";
import type { CacheReader } from "#controller-runtime";
import {
  adoptedCluster,
  adoptionSecretOf,
  adoptionStep,
  cellClosing,
  certificateToReplace,
  identityOf,
  OFFER_EXPIRES_ANNOTATION,
} from "#controllers";
import { latticeClusters, type LatticeClusterSpec } from "#crds";
import { csrTokenOf, type Registrations } from "#http";
import { secrets, secretsByMetadata, type KubeObject } from "#kube";
import type { KubeClient } from "#kube-client";

export type AdoptionsOptions = {
  readonly cache: CacheReader;
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly logger: Logger;
  /** The operator's namespace. */
  readonly home: string;
  readonly cell: string;
  readonly endpoints: NonNullable<LatticeClusterSpec["endpoints"]>;
  readonly trustBundle: () => string;
  readonly registrations: Registrations;
};

const LOOK_MS = 2_000;
const OFFER_LIFE_MS = 24 * 3_600_000;
const OFFER_LABEL = "lattice.dev/adoption";

export async function followAdoptions(options: AdoptionsOptions, signal: AbortSignal): Promise<void> {
  const { clock, logger } = options;
  const logged = new Map<string, string>();
  do {
    for (const cluster of candidates(options)) {
      const done = await adoptOne(options, cluster, signal);
      if (!done.ok && logged.get(cluster) !== done.error && !signal.aborted)
        logger.warn("a cluster cannot be adopted yet", { cluster, reason: done.error });
      if (done.ok) logged.delete(cluster);
      else logged.set(cluster, done.error);
    }
  } while (await sleep(clock, LOOK_MS, signal));
}

/** Adopted clusters, those that need another certificate, and those with an offer. */
function candidates({ cache, home }: AdoptionsOptions): ReadonlySet<string> {
  const adopted = cache
    .list(latticeClusters)
    .filter((cluster) => adoptedCluster(cluster) !== undefined || certificateToReplace(cluster) !== undefined);
  const offered = cache.list(secretsByMetadata, home).flatMap(({ metadata }) => metadata.labels?.[OFFER_LABEL] ?? []);
  return new Set([...adopted.map(({ metadata }) => metadata.name), ...offered]);
}

async function adoptOne(options: AdoptionsOptions, name: string, signal: AbortSignal): Promise<Result<void, string>> {
  const { cache, client, clock, home, registrations } = options;
  const key = { namespace: home, name: adoptionSecretOf(name) };
  const record = registrations.accessOf(name);
  const step = adoptionStep({
    cluster: cache.get(latticeClusters, { name }),
    offer: cache.get(secretsByMetadata, key),
    access: record,
    isClosing: cellClosing(identityOf(cache, home), cache) !== undefined,
    now: clock.now(),
  });
  if (step === undefined) return ok(undefined);
  if (step === "withdraw") {
    const deleted = await client.delete(secrets, key, { signal });
    return deleted.ok ? ok(undefined) : err(deleted.error.message);
  }
  const expiresAt = clock.now() + OFFER_LIFE_MS;
  const created = await registrations.createAccess(name, { expiresAt, reissue: "bootstrap" });
  if (!created.ok) return err(created.error.message);
  const { bootstrapToken } = created.value;
  if (bootstrapToken === undefined) return err("its record changed meanwhile");
  return writeOffer(options, offerOf(options, { name, token: csrTokenOf(name, bootstrapToken), expiresAt }), signal);
}

type Offer = { readonly name: string; readonly token: Sensitive<string>; readonly expiresAt: number };

function offerOf({ home, cell, endpoints, trustBundle }: AdoptionsOptions, { name, token, expiresAt }: Offer): KubeObject {
  const host = endpoints.host.includes(":") ? `[${endpoints.host}]` : endpoints.host;
  const texts = {
    cell,
    endpoint: `${host}:${endpoints.grpcPort}`,
    bootstrap: `https://${host}:${endpoints.bootstrapPort}`,
    "ca.crt": trustBundle(),
    "csr-token": reveal(token),
  };
  const data = Object.fromEntries(Object.entries(texts).map(([key, text]) => [key, base64OfText(text)]));
  const metadata = {
    name: adoptionSecretOf(name),
    namespace: home,
    labels: { "app.kubernetes.io/managed-by": "lattice", [OFFER_LABEL]: name },
    annotations: { [OFFER_EXPIRES_ANNOTATION]: new Date(expiresAt).toISOString() },
  };
  return Object.assign({ apiVersion: "v1", kind: "Secret", metadata }, { type: "Opaque", data });
}

/** A token is known only once: the offer is replaced as a whole. */
async function writeOffer({ client }: AdoptionsOptions, offer: KubeObject, signal: AbortSignal): Promise<Result<void, string>> {
  const { namespace, name } = offer.metadata;
  const deleted = await client.delete(secrets, { namespace, name }, { signal });
  if (!deleted.ok) return err(deleted.error.message);
  const written = await client.create<KubeObject>(secrets, offer, { signal });
  return written.ok ? ok(undefined) : err(written.error.message);
}
