/**
 * The cell's record about one child: which tokens it has (as SHA-256 only) and which certificates it got. One Secret per cluster.
 *
 * It is parsed strictly, unknown fields included: a record that is not understood authenticates no client.
 */
import { err, ok, textOfBytes, bytesOfBase64, base64OfText, type Result } from "#base";
import { field, fieldAt, isJsonObject, parseDnsLabel, parseJson, type Json, type JsonObject, type KubeObject } from "#kube";

export type AgentCertificateRecord = {
  readonly serial: string;
  /** Milliseconds since 1970, as all times here. */
  readonly notAfter: number;
  /** SHA-256 of the public key. */
  readonly keyHash: string;
  /** The generation of tokens with which its key was first signed. Renewed certificates keep it. */
  readonly generation: number;
  /** An agent has connected with it. */
  readonly connected: boolean;
};

/** A failed step that a node of the child reported. */
export type BootstrapReport = { readonly step: string; readonly message: string; readonly node: string; readonly at: number };

export type ClusterAccess = {
  readonly cluster: string;
  readonly bootstrapHash: string;
  readonly csrHash: string;
  readonly proxyHash: string;
  /** Counts the bootstrap tokens of this cluster, from 0. */
  readonly generation: number;
  /** The first CSR of this generation was signed: the bootstrap token is no longer accepted. */
  readonly spent: boolean;
  /** An agent of this generation has connected: the CSR token is no longer accepted. */
  readonly closed: boolean;
  readonly expiresAt: number;
  readonly revoked: boolean;
  /**
   * Certificates that are not in the list are accepted if they are valid only from a later time: a restored backup may lack some. Earlier ones were
   * withdrawn, or are of another cluster that had this name.
   */
  readonly trustedFrom: number;
  /** Oldest first. */
  readonly certificates: readonly AgentCertificateRecord[];
  readonly lastReport?: BootstrapReport;
};

type AccessSecret = KubeObject & { readonly type: "Opaque"; readonly data: JsonObject };

const PREFIX = "lattice-access-";
const RECORD_KEY = "record";
/** The record, without its Secret, is at most this long. */
const MAX_RECORD = 256 * 1024;
/** Selects the records among other Secrets. */
export const ACCESS_LABEL = "lattice.dev/cluster-access";

export function accessSecretName(cluster: string): string {
  return `${PREFIX}${cluster}`;
}

/** Only for names that `accessSecretName` made. */
export function clusterOfSecretName(name: string): string {
  return name.slice(PREFIX.length);
}

/** `previous`: keeps labels, annotations and the resourceVersion for optimistic locking. */
export function accessSecret(access: ClusterAccess, namespace: string, previous?: KubeObject): AccessSecret {
  const metadata = previous?.metadata ?? { name: accessSecretName(access.cluster), namespace };
  return {
    apiVersion: "v1",
    kind: "Secret",
    type: "Opaque",
    metadata: { ...metadata, labels: { ...metadata.labels, [ACCESS_LABEL]: "true" } },
    data: { [RECORD_KEY]: base64OfText(JSON.stringify(access)) },
  };
}

/** The error is one sentence without any content of the record. */
export function accessOfSecret(secret: KubeObject): Result<ClusterAccess, string> {
  const encoded = fieldAt(secret, "data", RECORD_KEY);
  if (typeof encoded !== "string" || encoded.length > 2 * MAX_RECORD) return err(`the Secret has no readable key "${RECORD_KEY}"`);
  const bytes = bytesOfBase64(encoded);
  const text = bytes.ok ? textOfBytes(bytes.value) : bytes;
  const json = text.ok ? parseJson(text.value) : text;
  const access = json.ok ? readAccess(json.value) : undefined;
  if (access === undefined) return err("the record is not valid");
  if (secret.metadata.name !== accessSecretName(access.cluster)) return err("the record is of another cluster");
  return ok(access);
}

type Check = (value: Json | undefined) => boolean;
const isHash: Check = (value) => typeof value === "string" && /^[0-9a-f]{64}$/.test(value);
const isTime: Check = (value) => Number.isSafeInteger(value) && Number(value) >= 0;
const isFlag: Check = (value) => typeof value === "boolean";
const isText: Check = (value) => typeof value === "string" && value.length <= 4_096;
const isSerial: Check = (value) => typeof value === "string" && /^[0-9A-Fa-f:]{1,128}$/.test(value);

const CERTIFICATE: Readonly<Record<keyof AgentCertificateRecord, Check>> = {
  serial: isSerial,
  notAfter: isTime,
  keyHash: isHash,
  generation: isTime,
  connected: isFlag,
};
const REPORT: Readonly<Record<keyof BootstrapReport, Check>> = { step: isText, message: isText, node: isText, at: isTime };
const ACCESS: Readonly<Record<keyof ClusterAccess, Check>> = {
  cluster: (value) => typeof value === "string" && parseDnsLabel(value).ok,
  bootstrapHash: isHash,
  csrHash: isHash,
  proxyHash: isHash,
  generation: isTime,
  spent: isFlag,
  closed: isFlag,
  expiresAt: isTime,
  revoked: isFlag,
  trustedFrom: isTime,
  certificates: (value) => Array.isArray(value) && value.length <= 256 && value.every((one) => hasExactly(one, CERTIFICATE)),
  lastReport: (value) => value === undefined || hasExactly(value, REPORT),
};

function readAccess(value: Json): ClusterAccess | undefined {
  return hasExactly(value, ACCESS) ? (value as unknown as ClusterAccess) : undefined;
}

function hasExactly(value: Json | undefined, checks: Readonly<Record<string, Check>>): boolean {
  if (!isJsonObject(value)) return false;
  const names = Object.keys(value);
  return names.every((name) => Object.hasOwn(checks, name)) && Object.entries(checks).every(([name, check]) => check(field(value, name)));
}
