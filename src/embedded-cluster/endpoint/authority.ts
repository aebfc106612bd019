/**
 * The certificate authority of a cluster, created when it is first needed: by the listener, or by the controller that publishes it to Pods.
 *
 * Its certificates use the time of the machine instead of the cluster's clock: clients check them with the time of the machine.
 */
import { networkInterfaces } from "node:os";
import { map, systemClock, type Result } from "#base";
import { certificateFor, type ServingCertificate } from "#kube-server";

export const LOOPBACK = "127.0.0.1";
export const ALL_ADDRESSES: readonly string[] = ["0.0.0.0", "::"];

function addressesOfMachine(): readonly string[] {
  return Object.values(networkInterfaces()).flatMap((addresses = []) => addresses.map(({ address }) => address));
}

export class Authority {
  #first: ServingCertificate | undefined;

  certificate(host: string): Result<ServingCertificate, string> {
    const addresses = ALL_ADDRESSES.includes(host) ? addressesOfMachine() : [host];
    const made = certificateFor(addresses, systemClock, this.#first?.ca);
    if (made.ok) this.#first ??= made.value;
    return made;
  }

  /** PEM of the certificate that clients trust. */
  root(): Result<string, string> {
    return map(this.certificate(LOOPBACK), ({ authority }) => authority);
  }
}
