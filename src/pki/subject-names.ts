/**
 * The alternative names of a certificate: host names, URIs and addresses, checked before they are encoded.
 *
 * URIs here are SPIFFE names only, with the characters that SPIFFE permits: no query, no percent-encoding, no wildcard.
 */
import { err, ok, type Result } from "#base";
import { ipAddressBytes } from "./ip-address.ts";

export type SubjectNames = {
  readonly dnsNames: readonly string[];
  readonly uriNames: readonly string[];
  readonly addresses: readonly Uint8Array[];
};

export type RequestedNames = {
  readonly dnsNames?: readonly string[];
  readonly uriNames?: readonly string[];
  readonly ipAddresses?: readonly string[];
};

/** A host name with or without a leading wildcard; IPs are listed separately, because verifiers never match them as names. */
const DNS_NAME = /^(\*\.)?[A-Za-z0-9_]([-A-Za-z0-9_]*[A-Za-z0-9_])?(\.[A-Za-z0-9_]([-A-Za-z0-9_]*[A-Za-z0-9_])?)*$/;
const SPIFFE_NAME = /^spiffe:\/\/[a-z0-9._-]{1,255}(\/[A-Za-z0-9._-]+)+$/;
const MAX_URI = 2_048;

export function subjectNames(request: RequestedNames): Result<SubjectNames, string> {
  const dnsNames = request.dnsNames ?? [];
  const badName = dnsNames.find((name) => name.length > 253 || !DNS_NAME.test(name) || ipAddressBytes(name) !== undefined);
  if (badName !== undefined) return err(`"${badName}" is not a DNS name`);
  const uriNames = request.uriNames ?? [];
  const badUri = uriNames.find((name) => name.length > MAX_URI || !SPIFFE_NAME.test(name));
  if (badUri !== undefined) return err(`"${badUri}" is not a SPIFFE name`);
  const addresses: Uint8Array[] = [];
  for (const address of request.ipAddresses ?? []) {
    const bytes = ipAddressBytes(address);
    if (bytes === undefined) return err(`"${address}" is not an IP address`);
    addresses.push(bytes);
  }
  return ok({ dnsNames, uriNames, addresses });
}
