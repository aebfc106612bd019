/** Reads what both clusters, and the former parent, have of a cluster that gets another parent. */
import { andThen, bytesOfBase64, err, ok, sha256Hex, textOfBytes, type Result } from "#base";
import { capiNamespace } from "#cluster-compiler";
import {
  accessSecretOf,
  addressesOf,
  adoptedCluster,
  adoptionSecretOf,
  certificateToReplace,
  IDENTITY_CONFIG_MAP,
  PARENT_CONFIG_SECRET,
} from "#controllers";
import { latticeClusters, type LatticeCluster } from "#crds";
import { accessOfSecret } from "#http";
import {
  configMaps,
  fieldAt,
  findCondition,
  isBeingDeleted,
  namespaces,
  secrets,
  type KubeObject,
  type ObjectKey,
  type Resource,
} from "#kube";
import type { KubeClient } from "#kube-client";
import { AGENT_CERTIFICATE_SECRET, OPERATOR_NAMESPACE } from "#operator";
import { MOVE_JOURNAL, MOVE_RECORD, ownershipOf } from "#pivot";
import { readAgentIdentity } from "#pki";
import type { ReparentChild, ReparentSource, ReparentTarget, ParentView, ReparentView } from "./decide.ts";

export type ReparentClients = {
  readonly child: KubeClient;
  readonly to: KubeClient;
  readonly from: KubeClient | undefined;
  readonly signal: AbortSignal;
};

/** With the objects that the steps write again. */
export type ObservedReparent = ReparentView & {
  readonly spec: LatticeCluster["spec"] | undefined;
  readonly offered: KubeObject | undefined;
  readonly parentSecret: KubeObject | undefined;
};

export async function observeReparent(name: string, clients: ReparentClients): Promise<Result<ObservedReparent, string>> {
  const { child, to, from, signal } = clients;
  const childRead = await readChild(name, child, signal);
  if (!childRead.ok) return err(`the cluster ${name}: ${childRead.error}`);
  const toRead = await readNewParent(name, to, signal);
  if (!toRead.ok) return err(`the new parent: ${toRead.error}`);
  const former = from === undefined ? "unknown" : await readFormerParent(name, from, signal);
  const { view, spec, parentSecret } = childRead.value;
  return ok({ name, child: view, to: toRead.value.view, from: former, spec, parentSecret, offered: toRead.value.offered });
}

const home = (name: string): ObjectKey => ({ namespace: OPERATOR_NAMESPACE, name });

/** Undefined: it does not exist. */
async function read<T extends KubeObject>(
  client: KubeClient,
  resource: Resource<T>,
  key: ObjectKey,
  signal: AbortSignal,
): Promise<Result<T | undefined, string>> {
  const found = await client.get<T>(resource, key, { signal });
  if (found.ok) return found;
  return found.error.kind === "not-found" ? ok(undefined) : err(found.error.message);
}

type Identity = { readonly name: string | undefined; readonly uid: string };

async function readIdentity(client: KubeClient, signal: AbortSignal): Promise<Result<Identity, string>> {
  const system = await client.get(namespaces, { name: "kube-system" }, { signal });
  if (!system.ok) return err(system.error.message);
  const map = await read(client, configMaps, home(IDENTITY_CONFIG_MAP), signal);
  if (!map.ok) return map;
  const name = map.value?.data?.["cluster"];
  return ok({ name: name === "" ? undefined : name, uid: system.value.metadata.uid ?? "" });
}

type ReadChild = {
  readonly view: ReparentChild;
  readonly spec: LatticeCluster["spec"] | undefined;
  readonly parentSecret: KubeObject | undefined;
};

async function readChild(name: string, client: KubeClient, signal: AbortSignal): Promise<Result<ReadChild, string>> {
  const identity = await readIdentity(client, signal);
  if (!identity.ok) return identity;
  const listed = await client.list(latticeClusters, {}, { signal });
  if (!listed.ok) return err(listed.error.message);
  const own = listed.value.items.find(({ metadata }) => metadata.name === name);
  const namespace = capiNamespace(name);
  const record = await read<KubeObject>(client, configMaps, { namespace, name: MOVE_RECORD }, signal);
  if (!record.ok) return record;
  const journal = await read<KubeObject>(client, secrets, { namespace, name: MOVE_JOURNAL }, signal);
  if (!journal.ok) return journal;
  const parentSecret = await read<KubeObject>(client, secrets, home(PARENT_CONFIG_SECRET), signal);
  if (!parentSecret.ok) return parentSecret;
  const certificate = await read<KubeObject>(client, secrets, home(AGENT_CERTIFICATE_SECRET), signal);
  if (!certificate.ok) return certificate;
  const view: ReparentChild = {
    ...identity.value,
    ownership: ownershipOf({ record: record.value, hasJournal: journal.value !== undefined }).state,
    own: own === undefined ? undefined : { cellRef: own.spec.cellRef },
    children: listed.value.items.filter((one) => one !== own).map(({ metadata }) => metadata.name),
    parent: parentView(parentSecret.value),
    certificate: certificateView(name, certificate.value),
  };
  return ok({ view, spec: own?.spec, parentSecret: parentSecret.value });
}

type ReadNewParent = { readonly view: ReparentTarget; readonly offered: KubeObject | undefined };

async function readNewParent(name: string, client: KubeClient, signal: AbortSignal): Promise<Result<ReadNewParent, string>> {
  const identity = await readIdentity(client, signal);
  if (!identity.ok) return identity;
  const own =
    identity.value.name === undefined ? ok(undefined) : await read(client, latticeClusters, { name: identity.value.name }, signal);
  if (!own.ok) return own;
  const entry = await read(client, latticeClusters, { name }, signal);
  if (!entry.ok) return entry;
  const offer = await read<KubeObject>(client, secrets, home(adoptionSecretOf(name)), signal);
  if (!offer.ok) return offer;
  const access = await read<KubeObject>(client, secrets, home(accessSecretOf(name)), signal);
  if (!access.ok) return access;
  const closing = own.value === undefined ? ok(undefined) : await readClosing(own.value, client, signal);
  if (!closing.ok) return closing;
  const view: ReparentTarget = {
    ...identity.value,
    own: own.value === undefined ? undefined : { cellRef: own.value.spec.cellRef, endpoint: endpointOf(own.value), closing: closing.value },
    entry: entry.value === undefined ? undefined : entryView(entry.value),
    access: accessView(access.value),
    offer: parentView(offer.value),
  };
  return ok({ view, offered: offer.value });
}

/** A move away from its own API server leaves its journal there until it has ended. */
async function readClosing(
  own: LatticeCluster,
  client: KubeClient,
  signal: AbortSignal,
): Promise<Result<"deleted" | "leaving" | undefined, string>> {
  if (isBeingDeleted(own)) return ok("deleted");
  const journal = await read<KubeObject>(client, secrets, { namespace: capiNamespace(own.metadata.name), name: MOVE_JOURNAL }, signal);
  return journal.ok ? ok(journal.value === undefined ? undefined : "leaving") : journal;
}

function entryView(cluster: LatticeCluster): ReparentTarget["entry"] {
  return { adopted: adoptedCluster(cluster), connected: isConnected(cluster), replaces: certificateToReplace(cluster) };
}

/** Undefined: there is none, or it cannot be read; the parent admits no agent by it then. */
function accessView(secret: KubeObject | undefined): ReparentTarget["access"] {
  const access = secret === undefined ? undefined : accessOfSecret(secret);
  if (access?.ok !== true) return undefined;
  const { certificates, closed, revoked } = access.value;
  return { serials: certificates.map(({ serial }) => serial), closed, revoked };
}

function certificateView(name: string, secret: KubeObject | undefined): ReparentChild["certificate"] {
  const text = textAt(secret, "tls.crt");
  const identity = text === undefined ? undefined : readAgentIdentity(text);
  if (identity?.ok !== true || identity.value.cluster !== name) return undefined;
  const { cell, serial } = identity.value;
  return { cell, serial };
}

async function readFormerParent(name: string, client: KubeClient, signal: AbortSignal): Promise<ReparentSource> {
  const identity = await readIdentity(client, signal);
  if (!identity.ok) return "unreachable";
  const entry = await read(client, latticeClusters, { name }, signal);
  return entry.ok ? { name: identity.value.name, has: entry.value !== undefined } : "unreachable";
}

function endpointOf({ spec: { endpoints } }: LatticeCluster): string | undefined {
  return endpoints === undefined ? undefined : addressesOf(endpoints).join(" ");
}

function isConnected({ status }: LatticeCluster): boolean {
  return findCondition(status?.conditions, "AgentConnected")?.status === "True";
}

/** Undefined: there is no Secret, or it is incomplete. The token is compared by its digest. */
function parentView(secret: KubeObject | undefined): ParentView | undefined {
  const [cell, endpoint, bootstrap, token] = ["cell", "endpoint", "bootstrap", "csr-token"].map((key) => textAt(secret, key));
  if (cell === undefined || endpoint === undefined || bootstrap === undefined || token === undefined) return undefined;
  return { cell, endpoint: `${endpoint} ${bootstrap}`, tokenDigest: sha256Hex(token) };
}

function textAt(secret: KubeObject | undefined, key: string): string | undefined {
  const value = fieldAt(secret, "data", key);
  const text = typeof value === "string" ? andThen(bytesOfBase64(value), textOfBytes) : undefined;
  return text?.ok === true && text.value !== "" ? text.value : undefined;
}
