/**
 * The certificate authority of a cluster: kept in its data folder, or created when it is first needed, by the listener or by the controller
 * that publishes it to Pods.
 *
 * Its certificates use the time of the machine instead of the cluster's clock: clients check them with the time of the machine.
 */
import { networkInterfaces } from "node:os";
import { andThen, map, mapErr, ok, systemClock, type Result } from "#base";
import { createServerAuthority, issueServingCertificate, type ServingCertificate } from "#kube-server";
import type { CertificateAuthority } from "#pki";
import type { ClusterIdentity } from "../identity/index.ts";

export const LOOPBACK = "127.0.0.1";
export const ALL_ADDRESSES: readonly string[] = ["0.0.0.0", "::"];

function addressesOfMachine(): readonly string[] {
  return Object.values(networkInterfaces()).flatMap((addresses = []) => addresses.map(({ address }) => address));
}

export class Authority {
  readonly #kept: ClusterIdentity | undefined;
  #created: CertificateAuthority | undefined;

  constructor(kept: ClusterIdentity | undefined) {
    this.#kept = kept;
  }

  certificate(host: string): Result<ServingCertificate, string> {
    const addresses = ALL_ADDRESSES.includes(host) ? addressesOfMachine() : [host];
    if (this.#kept !== undefined) return this.#kept.serving(addresses);
    return andThen(this.#ca(), (ca) => mapErr(issueServingCertificate({ ca, addresses, clock: systemClock }), ({ message }) => message));
  }

  /** PEM of the certificate that clients trust. */
  root(): Result<string, string> {
    return map(this.#ca(), ({ certificate }) => certificate);
  }

  #ca(): Result<CertificateAuthority, string> {
    const known = this.#kept?.authority ?? this.#created;
    if (known !== undefined) return ok(known);
    const created = createServerAuthority(systemClock);
    if (created.ok) this.#created = created.value;
    return mapErr(created, ({ message }) => message);
  }
}
