/**
 * The authorities of a cell and their rotation. A child never receives a key of these.
 *
 * An authority lives ten years. At 80 % a successor is created; it is in the trust bundle for 30 days before it signs agents. The old
 * authority then stays trusted, and signs the cell's own serving certificate, as long as an agent can exist that has only the old one in its
 * bundle and can still renew: a certificate's life plus the 90 days of renewal after expiry. So an agent that was offline during the
 * rotation can still verify the cell.
 */
import { X509Certificate } from "node:crypto";
import { map, ok, type Result } from "#base";
import { AGENT_CERTIFICATE_LIFE, CERTIFICATE_BACKDATE } from "./agent-identity.ts";
import { createCertificateAuthority, type CertificateAuthority } from "./certificate.ts";
import type { PkiError } from "./key-pair.ts";

const DAY = 86_400_000;
const CELL_AUTHORITY_LIFE = 3_652 * DAY;
const SUCCESSOR_AT = 0.8;
/** Agents renew every 20 days and receive the bundle with each renewal. */
const SUCCESSOR_TRUST_PERIOD = 30 * DAY;
/** How long after its expiry an agent's certificate can be renewed with its key. */
export const RENEWAL_AFTER_EXPIRY = 90 * DAY;
export const SERVING_CERTIFICATE_LIFE = 30 * DAY;
/** From its retirement on, an authority signs serving certificates for this time ... */
const RETIRED_SERVING = AGENT_CERTIFICATE_LIFE + RENEWAL_AFTER_EXPIRY;
/** ... and is trusted until the last of them expired; one day for clocks. */
const RETIRED_TRUST = RETIRED_SERVING + SERVING_CERTIFICATE_LIFE + DAY;

export type CellAuthorities = {
  /** Name of the cell. */
  readonly cell: string;
  /** Signs the certificates of agents. */
  readonly current: CertificateAuthority;
  /** Trusted, and signs nothing yet. */
  readonly successor?: CertificateAuthority;
  readonly previous?: RetiredAuthority;
};

export type RetiredAuthority = CertificateAuthority & {
  /** Milliseconds since 1970 at which it signed its last agent. */
  readonly retired: number;
};

export function createCellAuthorities(cell: string, now: number): Result<CellAuthorities, PkiError> {
  return map(createAuthority(cell, now), (current) => ({ cell, current }));
}

export type AuthorityRotation = {
  readonly authorities: CellAuthorities;
  /** To be stored before anything is signed with them. */
  readonly changed: boolean;
};

/** The authorities as they have to be at `now`. Several steps can be due at once, when the cell was off for long. */
export function rotateIfDue(authorities: CellAuthorities, now: number): Result<AuthorityRotation, PkiError> {
  let rotated = authorities;
  for (let before: CellAuthorities | undefined; before !== rotated;) {
    before = rotated;
    const added = addSuccessor(rotated, now);
    if (!added.ok) return added;
    rotated = dropPrevious(promoteSuccessor(added.value, now), now);
  }
  return ok({ authorities: rotated, changed: rotated !== authorities });
}

function addSuccessor(authorities: CellAuthorities, now: number): Result<CellAuthorities, PkiError> {
  const { cell, current, successor } = authorities;
  if (successor !== undefined || now < successorTime(current)) return ok(authorities);
  return map(createAuthority(cell, now), (created) => ({ ...authorities, successor: created }));
}

/** An authority that has expired is replaced at once: no verifier accepts it any more. */
function promoteSuccessor(authorities: CellAuthorities, now: number): CellAuthorities {
  const { cell, current, successor } = authorities;
  if (successor === undefined) return authorities;
  const trusted = createdAt(successor) + SUCCESSOR_TRUST_PERIOD;
  if (now < trusted && now < current.notAfter.getTime()) return authorities;
  return { cell, current: successor, previous: { ...current, retired: now } };
}

function dropPrevious(authorities: CellAuthorities, now: number): CellAuthorities {
  const { previous, ...others } = authorities;
  return previous === undefined || now < previous.retired + RETIRED_TRUST ? authorities : others;
}

/** The authority of the cell's serving certificate: the oldest one that every agent trusts. */
export function servingAuthority({ current, previous }: CellAuthorities, now: number): CertificateAuthority {
  if (previous === undefined || now >= previous.retired + RETIRED_SERVING) return current;
  return now + SERVING_CERTIFICATE_LIFE <= previous.notAfter.getTime() ? previous : current;
}

/** All trusted authorities as PEM; the current one first. */
export function trustBundle(authorities: CellAuthorities): string {
  return trustedAuthorities(authorities)
    .map(({ certificate }) => certificate)
    .join("");
}

export function trustedAuthorities({ current, successor, previous }: CellAuthorities): readonly CertificateAuthority[] {
  return [current, ...(successor === undefined ? [] : [successor]), ...(previous === undefined ? [] : [previous])];
}

/** When the next step is due, for a timer. */
export function nextRotation({ current, successor, previous }: CellAuthorities): number {
  const promotion = successor === undefined ? successorTime(current) : createdAt(successor) + SUCCESSOR_TRUST_PERIOD;
  return Math.min(promotion, previous === undefined ? promotion : previous.retired + RETIRED_TRUST);
}

function createAuthority(cell: string, now: number): Result<CertificateAuthority, PkiError> {
  // certificates have whole seconds; the year distinguishes authorities for people, verifiers use the key identifier
  const created = now - (now % 1_000);
  return createCertificateAuthority({
    commonName: cell,
    organizations: [`lattice cell authority ${new Date(now).getUTCFullYear()}`],
    notBefore: new Date(created - CERTIFICATE_BACKDATE),
    notAfter: new Date(created + CELL_AUTHORITY_LIFE),
    curve: "P-384",
  });
}

function createdAt(authority: CertificateAuthority): number {
  return new X509Certificate(authority.certificate).validFromDate.getTime() + CERTIFICATE_BACKDATE;
}

function successorTime(authority: CertificateAuthority): number {
  const created = createdAt(authority);
  return created + Math.floor((authority.notAfter.getTime() - created) * SUCCESSOR_AT);
}
