/**
 * What a record allows, and what it becomes: pure functions over `ClusterAccess`. `undefined` means that the request is refused.
 *
 * A token is spent in the same write that records the certificate, and before the certificate is sent. Whatever is lost after that, the child asks
 * again with the same key and gets a certificate again, until its agent has connected.
 *
 * Until then another key replaces the first one: a child may lose a key that it had not stored yet. The replaced certificates are withdrawn, so that
 * never two keys are accepted with one token.
 */
import type { AgentCertificateRecord, BootstrapReport, ClusterAccess } from "./cluster-access.ts";

const DAY_MS = 86_400_000;
/** An expired certificate can be renewed for so long; after that it is of no use, and forgotten. */
const RENEWABLE_MS = 90 * DAY_MS;
/** Renewals leave about six in four months. More come only from a child that asks again and again. */
const MAX_CERTIFICATES = 32;

export type TokenHashes = Pick<ClusterAccess, "bootstrapHash" | "csrHash" | "proxyHash">;
/** What is recorded about a certificate. */
export type IssuedFacts = Pick<AgentCertificateRecord, "serial" | "notAfter" | "keyHash">;

/** A certificate that a client shows. Its chain, dates and cluster are checked already. */
export type ShownCertificate = { readonly serial: string; readonly notBefore?: number | undefined };
/** Both in milliseconds since 1970. */
export type TokenTimes = { readonly now: number; readonly expiresAt: number };

export function newAccess(cluster: string, hashes: TokenHashes, { now, expiresAt }: TokenTimes): ClusterAccess {
  const state = { generation: 0, spent: false, closed: false, expiresAt, revoked: false, trustedFrom: now, certificates: [] };
  return { cluster, ...hashes, ...state };
}

/** Fresh tokens for a cluster that has to bootstrap again. Its certificates stay accepted until the first CSR, unless they were revoked. */
export function reissueAccess(access: ClusterAccess, hashes: TokenHashes, { now, expiresAt }: TokenTimes): ClusterAccess {
  const { lastReport: _, ...rest } = access;
  const withdrawn = access.revoked ? { certificates: [], trustedFrom: now } : {};
  const state = { generation: access.generation + 1, spent: false, closed: false, revoked: false };
  return { ...rest, ...withdrawn, ...hashes, ...state, expiresAt };
}

/** Also for reports of a node. */
export function mayRegister(access: ClusterAccess, now: number): boolean {
  return !access.revoked && !access.spent && !access.closed && now < access.expiresAt;
}

/** The key is not known yet: whether this token may be used at all. */
export function mayRequestCertificate(access: ClusterAccess, now: number): boolean {
  return !access.revoked && !access.closed && (now < access.expiresAt || access.certificates.some((one) => isOpen(access, one, now)));
}

/** The same key may ask again after the token's expiry: the child did its part in time, and only the answer was lost. */
export function maySignFirst(access: ClusterAccess, keyHash: string, now: number): boolean {
  if (access.revoked || access.closed) return false;
  return now < access.expiresAt || access.certificates.some((one) => one.keyHash === keyHash && isOpen(access, one, now));
}

function isOpen(access: ClusterAccess, certificate: AgentCertificateRecord, now: number): boolean {
  return certificate.generation === access.generation && now < certificate.notAfter;
}

export function recordFirst(access: ClusterAccess, signed: IssuedFacts, now: number): ClusterAccess | undefined {
  if (!maySignFirst(access, signed.keyHash, now)) return undefined;
  const entry = { ...signed, generation: access.generation, connected: false };
  const kept = access.certificates.filter(({ keyHash }) => keyHash === signed.keyHash);
  return { ...withCertificates(access, kept, entry, now), spent: true };
}

/** A key that another one has replaced renews nothing: it may have been stolen since. */
export function mayRenew(access: ClusterAccess, shown: ShownCertificate): boolean {
  if (!isAcceptedCertificate(access, shown)) return false;
  const old = find(access, shown.serial);
  const later = old === undefined ? [] : access.certificates.slice(access.certificates.indexOf(old) + 1);
  return !later.some(({ connected, keyHash }) => connected && keyHash !== old?.keyHash);
}

/** Renewal after expiry, signed with the key of the shown certificate. Certificates of other keys that were renewed with it and never used are withdrawn. */
export function recordRenewal(access: ClusterAccess, shown: ShownCertificate, signed: IssuedFacts, now: number): ClusterAccess | undefined {
  if (!mayRenew(access, shown)) return undefined;
  const old = find(access, shown.serial);
  const isKept = (one: AgentCertificateRecord) => one.connected || one.keyHash === old?.keyHash || one.keyHash === signed.keyHash;
  const entry = { ...signed, generation: old?.generation ?? access.generation, connected: false };
  return withCertificates(access, access.certificates.filter(isKept), entry, now);
}

/** Renewal over the agent's own connection, which is authenticated: nothing is withdrawn. */
export function recordStreamRenewal(access: ClusterAccess, signed: IssuedFacts, now: number): ClusterAccess | undefined {
  if (access.revoked) return undefined;
  const generation = access.certificates.findLast(({ connected }) => connected)?.generation ?? access.generation;
  return withCertificates(access, access.certificates, { ...signed, generation, connected: false }, now);
}

function find(access: ClusterAccess, serial: string): AgentCertificateRecord | undefined {
  return access.certificates.find((one) => one.serial === serial);
}

function withCertificates(
  access: ClusterAccess,
  kept: readonly AgentCertificateRecord[],
  entry: AgentCertificateRecord,
  now: number,
): ClusterAccess {
  const useful = [...kept.filter(({ notAfter }) => now < notAfter + RENEWABLE_MS), entry];
  const certificates = useful.length <= MAX_CERTIFICATES ? useful : withoutOldest(useful);
  // forgetting one that can no longer be renewed withdraws nothing
  const hasWithdrawn = kept.length < access.certificates.length || certificates !== useful;
  return { ...access, certificates, ...(hasWithdrawn ? { trustedFrom: now } : {}) };
}

/** The oldest that was never used goes first: the agent may still use the others. */
function withoutOldest(certificates: readonly AgentCertificateRecord[]): readonly AgentCertificateRecord[] {
  const unused = certificates.slice(0, -1).findIndex(({ connected }) => !connected);
  return certificates.filter((_, at) => at !== Math.max(unused, 0));
}

export function isAcceptedCertificate(access: ClusterAccess, { serial, notBefore = 0 }: ShownCertificate): boolean {
  return !access.revoked && (notBefore > access.trustedFrom || find(access, serial) !== undefined);
}

/** The same value when nothing changes: agents reconnect often, and most connections need no write. */
export function recordConnection(access: ClusterAccess, shown: ShownCertificate): ClusterAccess {
  if (!isAcceptedCertificate(access, shown)) return access;
  const known = find(access, shown.serial);
  // after fresh tokens the agent of an older generation may still connect: they stay open
  const closes = known === undefined || known.generation === access.generation;
  if ((known?.connected ?? true) && (!closes || access.closed)) return access;
  const certificates = access.certificates.map((one) => (one === known ? { ...one, connected: true } : one));
  return { ...access, certificates, ...(closes ? { spent: true, closed: true } : {}) };
}

export function revokeAccess(access: ClusterAccess): ClusterAccess {
  return access.revoked ? access : { ...access, revoked: true };
}

export function extendAccess(access: ClusterAccess, until: number): ClusterAccess {
  return until > access.expiresAt && !access.closed ? { ...access, expiresAt: until } : access;
}

export function recordReport(access: ClusterAccess, report: BootstrapReport, now: number): ClusterAccess | undefined {
  return mayRegister(access, now) ? { ...access, lastReport: report } : undefined;
}
