/**
 * Decides which of several services holds a host and path, across all namespaces: the one that has held it longest. The status of a service records
 * since when, so that an old service cannot take over a host by editing its route. Without such a record: the oldest service, else the first by name.
 *
 * Between services of one namespace only an identical host and path is a conflict, and the longest prefix gets the
 * request. Between namespaces every overlap is a conflict: `/login` would receive requests meant for another team's `/`.
 */
import { comparablePath, hostsOverlap, isWildcard, pathsOverlap } from "#service-compiler";

export type RouteClaim = {
  /** The LatticeService: `namespace/name`. */
  readonly key: string;
  readonly resource: string;
  readonly host: string;
  readonly path: string;
  /** Since when it has held this host and path; "": not yet. */
  readonly since: string;
  /** Creation time of the service; "": it is not created yet. */
  readonly made: string;
};

type Claim = RouteClaim & { readonly tenant: string; readonly prefix: string };

/** Claims on one host, by tenant; the oldest first. */
type HostClaims = Map<string, Claim[]>;

const NONE: readonly Claim[] = [];

export class RouteClaims {
  readonly #hosts = new Map<string, HostClaims>();
  readonly #claims = new Map<string, readonly Claim[]>();
  /** Hosts with a wildcard, which overlap with other hosts. */
  readonly #wildcards = new Set<string>();

  /** Replaces all earlier claims of the service; returns the services whose routes may be affected. */
  claim(key: string, wanted: readonly RouteClaim[]): ReadonlySet<string> {
    const before = this.#claims.get(key) ?? NONE;
    const next = wanted.map((claim): Claim => ({ ...claim, tenant: tenantOf(key), prefix: comparablePath(claim.path) }));
    if (before.length === next.length && before.every((claim, at) => isSame(claim, next[at]))) return new Set();
    for (const claim of before) this.#remove(claim);
    if (next.length === 0) this.#claims.delete(key);
    else this.#claims.set(key, next);
    for (const claim of next) this.#add(claim);
    const rivals = [...before, ...next].flatMap((claim) => [...this.#conflicting(claim, () => true)]);
    return new Set(rivals.map((rival) => rival.key).filter((other) => other !== key));
  }

  /** The other service that holds what a resource of this service claims; undefined: this service holds it, or claims nothing. */
  holder(key: string, resource: string): string | undefined {
    return this.holdingClaim(key, resource)?.key;
  }

  /** The same, with the resource: it may be one of the same service. */
  holdingClaim(key: string, resource: string): RouteClaim | undefined {
    const claim = (this.#claims.get(key) ?? NONE).find((one) => one.resource === resource);
    if (claim === undefined) return undefined;
    for (const rival of this.#conflicting(claim, (other) => goesBefore(other, claim))) return rival;
    return undefined;
  }

  claimsOf(key: string): readonly RouteClaim[] {
    return this.#claims.get(key) ?? NONE;
  }

  #add(claim: Claim): void {
    const host = this.#hosts.get(claim.host) ?? new Map<string, Claim[]>();
    this.#hosts.set(claim.host, host);
    if (isWildcard(claim.host)) this.#wildcards.add(claim.host);
    const claims = host.get(claim.tenant) ?? [];
    host.set(claim.tenant, claims);
    claims.splice(placeFor(claims, claim), 0, claim);
  }

  #remove(claim: Claim): void {
    const host = this.#hosts.get(claim.host);
    const claims = host?.get(claim.tenant)?.filter((one) => one !== claim) ?? [];
    if (claims.length > 0) host?.set(claim.tenant, claims);
    else host?.delete(claim.tenant);
    if (host?.size !== 0) return;
    this.#hosts.delete(claim.host);
    this.#wildcards.delete(claim.host);
  }

  /** Conflicting claims of each tenant in order of age; stops at the first for which `counts` is false. */
  *#conflicting(claim: Claim, counts: (other: Claim) => boolean): Iterable<Claim> {
    for (const host of this.#overlapping(claim.host)) {
      for (const [tenant, claims] of this.#hosts.get(host) ?? []) {
        const same = tenant === claim.tenant;
        for (const other of claims) {
          if (!counts(other)) break;
          const conflict = same ? host === claim.host && other.prefix === claim.prefix : pathsOverlap(other.prefix, claim.prefix);
          if (conflict && other !== claim) yield other;
        }
      }
    }
  }

  /** Wildcards are compared with every host; there are few, since each must be granted explicitly. */
  *#overlapping(host: string): Iterable<string> {
    const others = isWildcard(host) ? this.#hosts.keys() : this.#wildcards;
    if (!isWildcard(host) && this.#hosts.has(host)) yield host;
    for (const other of others) if (hostsOverlap(other, host)) yield other;
  }
}

function tenantOf(key: string): string {
  return key.slice(0, key.indexOf("/"));
}

function isSame(one: Claim, other: Claim | undefined): boolean {
  if (other === undefined) return false;
  const [a, b] = [one, other].map(({ resource, host, path, since, made }) => [resource, host, path, since, made].join(" "));
  return a === b;
}

/** "" sorts as the youngest. */
function compareTimes(a: string, b: string): number {
  if (a === b) return 0;
  if (a === "" || b === "") return a === "" ? 1 : -1;
  return a < b ? -1 : 1;
}

function goesBefore(a: Claim, b: Claim): boolean {
  const byAge = compareTimes(a.since, b.since) || compareTimes(a.made, b.made);
  if (byAge !== 0) return byAge < 0;
  return a.key === b.key ? a.resource < b.resource : a.key < b.key;
}

/** Binary search: a host may have thousands of claims. */
function placeFor(claims: readonly Claim[], claim: Claim): number {
  let [from, to] = [0, claims.length];
  while (from < to) {
    const middle = (from + to) >> 1;
    const other = claims[middle];
    if (other !== undefined && goesBefore(other, claim)) from = middle + 1;
    else to = middle;
  }
  return from;
}
