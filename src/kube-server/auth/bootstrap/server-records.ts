/**
 * Records of a kube-apiserver about itself in kube-system: the Lease of its identity, the ConfigMap for its client authority (empty until
 * `client-authority.ts` fills it), and the start of the tracking of legacy ServiceAccount tokens.
 */
import { sha256Hex, timestamp } from "#base";
import type { JsonObject, KubeObject } from "#kube";
import { newUid } from "../../protocol/core.ts";
import type { BootstrapContext } from "./bootstrap.ts";
import type { Store } from "../../store/index.ts";

const NAMESPACE = "kube-system";
const CONFIG_MAPS = "/configmaps";
const LEASES = "coordination.k8s.io/leases";
const AUTHENTICATION = "extension-apiserver-authentication";
const TRACKING = "kube-apiserver-legacy-service-account-token-tracking";
/** Constant, because only one server uses a store at a time. */
const HOSTNAME = "lattice";
const IDENTITY = `apiserver-${base32(sha256Hex(HOSTNAME).slice(0, 32))}`;
const LEASE_SECONDS = 3_600;

/** The Lease is renewed at every start; the other records are written once. */
export function ensureServerRecords(context: BootstrapContext): void {
  const { types, clock } = context;
  if (types.find("", "v1", "configmaps") !== undefined) {
    ensureConfigMap(context, AUTHENTICATION, undefined);
    ensureConfigMap(context, TRACKING, { since: timestamp(clock).slice(0, 10) });
  }
  if (types.find("coordination.k8s.io", "v1", "leases") !== undefined) takeIdentity(context);
}

type Data = Readonly<Record<string, string>>;

function ensureConfigMap(context: BootstrapContext, name: string, data: Data | undefined): void {
  if (context.store.get(CONFIG_MAPS, `${NAMESPACE}/${name}`) === undefined) putConfigMap(context, name, data);
}

function putConfigMap(context: BootstrapContext, name: string, data: Data | undefined): void {
  const keys = Object.keys(data ?? {}).map((key) => [`f:${key}`, {}]);
  const owned = { "f:data": { ".": {}, ...Object.fromEntries(keys) } };
  const content = data === undefined ? {} : { data };
  put(context, CONFIG_MAPS, { kind: "ConfigMap", apiVersion: "v1", name, content, ...(data === undefined ? {} : { owned }) });
}

function takeIdentity(context: BootstrapContext): void {
  const labels = { "apiserver.kubernetes.io/identity": "kube-apiserver", "kubernetes.io/hostname": HOSTNAME };
  const named = { "f:metadata": { "f:labels": { ".": {}, "f:apiserver.kubernetes.io/identity": {}, "f:kubernetes.io/hostname": {} } } };
  const spec = {
    holderIdentity: `${IDENTITY}_${newUid(context.random)}`,
    leaseDurationSeconds: LEASE_SECONDS,
    renewTime: `${new Date(context.clock.now()).toISOString().slice(0, -1)}000Z`,
  };
  const owned = { ...named, "f:spec": { "f:holderIdentity": {}, "f:leaseDurationSeconds": {}, "f:renewTime": {} } };
  put(context, LEASES, { kind: "Lease", apiVersion: "coordination.k8s.io/v1", name: IDENTITY, labels, content: { spec }, owned });
}

type Recorded = {
  readonly kind: string;
  readonly apiVersion: string;
  readonly name: string;
  readonly labels?: Data;
  readonly content: JsonObject;
  readonly owned?: JsonObject;
};

function put({ store, random, clock }: BootstrapContext, collection: string, recorded: Recorded): void {
  const { kind, apiVersion, name, labels, content, owned } = recorded;
  const key = `${NAMESPACE}/${name}`;
  const known = store.get(collection, key);
  const now = timestamp(clock);
  const entry = { manager: "kube-apiserver", operation: "Update", apiVersion, time: now, fieldsType: "FieldsV1", fieldsV1: owned ?? {} };
  const uid = known?.object.metadata.uid ?? newUid(random);
  const rest = {
    creationTimestamp: known?.object.metadata.creationTimestamp ?? now,
    ...(labels === undefined ? {} : { labels }),
    ...(owned === undefined ? {} : { managedFields: [entry] }),
  };
  writeTo(store, { collection, key, expected: known?.revision }, (resourceVersion) => {
    return { kind, apiVersion, metadata: { name, namespace: NAMESPACE, uid, resourceVersion, ...rest }, ...content };
  });
}

type Place = { readonly collection: string; readonly key: string; readonly expected: number | undefined };

/** A store that cannot be written is reported by the first request that writes. */
function writeTo(store: Store, place: Place, object: (resourceVersion: string) => KubeObject): void {
  store.write({ ...place, object: (revision) => object(String(revision)) });
}

/** RFC 4648 in lower case, without padding; of 16 bytes in hexadecimal. */
function base32(hex: string): string {
  const bits = Array.from(hex, (digit) => Number.parseInt(digit, 16).toString(2).padStart(4, "0")).join("");
  return (bits.match(/.{1,5}/g) ?? []).map((five) => "abcdefghijklmnopqrstuvwxyz234567"[Number.parseInt(five.padEnd(5, "0"), 2)]).join("");
}
