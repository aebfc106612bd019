/**
 * The server of a resource: a service `{id}-{suffix}` of the cluster, or the LatticeExternalService of that name for one outside.
 * Its credentials are in the secret store, under `{type}/{id}/`.
 */
import { ok, type Result } from "#base";
import { joined, plain, type Value } from "../templates/index.ts";
import { hidden, hostOf } from "./outputs.ts";
import { problem } from "./params.ts";
import type { ResourceOutput, PeerAddress, ResourceProblem, ProvisionRequest } from "./provisioner.ts";
import { preferred, readUrl } from "./services.ts";

export type Server = {
  readonly peer: PeerAddress;
  readonly host: ResourceOutput;
  readonly port: ResourceOutput;
  /** `host:port`. */
  readonly authority: () => Result<string, ResourceProblem>;
  /** From the LatticeExternalService; undefined: the server is in the cluster. */
  readonly externalUrl: string | undefined;
};

export function serverOf({ address, surroundings }: ProvisionRequest, suffix: string, port: number): Server {
  const peer = { address: { namespace: address.namespace, name: `${address.name}-${suffix}` }, port };
  const external = surroundings.findExternalService(peer.address);
  const externalUrl = external === undefined ? undefined : preferred(external.endpoints, "default", "");
  const endpoint = () =>
    externalUrl === undefined ? ok({ host: hostOf(peer.address, surroundings.clusterDomain), port }) : readUrl(externalUrl);
  const part = (read: (found: { readonly host: string; readonly port: number }) => string) => () => {
    const found = endpoint();
    return found.ok ? ok(read(found.value)) : found;
  };
  const output = (read: () => Result<string, ResourceProblem>): ResourceOutput => {
    return () => {
      const text = read();
      return text.ok ? ok(plain(text.value)) : text;
    };
  };
  return {
    peer,
    host: output(part(({ host }) => host)),
    port: output(part((found) => String(found.port))),
    authority: part((found) => `${found.host}:${found.port}`),
    externalUrl,
  };
}

/** A value of the secret store: `postgres/main-db/password`. */
export function secretValue({ surroundings, address }: ProvisionRequest, type: string, key: string): Result<Value, ResourceProblem> {
  const found = surroundings.readSecret(`${type}/${address.name}/${key}`);
  return found.ok ? ok(hidden(found.value)) : problem(found.error);
}

/** Joins parts to a text that is always sensitive. */
export function joinedSecretly(parts: readonly Value[]): Result<Value, ResourceProblem> {
  const value = joined(parts);
  if (value === undefined) return problem("it would mix a value of External Secrets with one from a Secret");
  return ok(hidden(value));
}

/** Joins parts; sensitive only if a part is. */
export function joinedOpenly(parts: readonly Value[]): Result<Value, ResourceProblem> {
  const value = joined(parts);
  return value === undefined ? joinedSecretly(parts) : ok(value);
}
