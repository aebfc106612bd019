/**
 * What clients know of a cluster, kept in its data folder: certificate authority, certificate of the server, tokens, port. A restart changes
 * none of them, so every kubeconfig that was issued before stays valid.
 */
import { andThen, map, systemClock, type Result } from "#base";
import type { ServingCertificate } from "#kube-server";
import type { CertificateAuthority } from "#pki";
import { openAuthority, openServingCertificate } from "./authority-files.ts";
import { removeUnfinishedFiles } from "./identity-file.ts";
import { readPort, writePort } from "./port-file.ts";
import { openTokens } from "./token-map.ts";

export type ClusterIdentity = {
  readonly authority: CertificateAuthority;
  /** The certificate of the server for loopback and these addresses. */
  readonly serving: (addresses: readonly string[]) => Result<ServingCertificate, string>;
  /** By user name. */
  readonly tokens: ReadonlyMap<string, string>;
  /** Undefined: the cluster has not listened yet. */
  readonly port: number | undefined;
  readonly keepPort: (port: number) => Result<void, string>;
};

/** Missing files are created. The caller holds the lock of the folder. Certificates use the time of the machine, as their clients do. */
export function openIdentity(folder: string, users: readonly string[]): Result<ClusterIdentity, string> {
  removeUnfinishedFiles(folder);
  return andThen(openAuthority(folder, systemClock), (authority) =>
    andThen(openTokens(folder, users), (tokens) =>
      map(readPort(folder), (port) => ({
        authority,
        tokens,
        port,
        serving: (addresses) => openServingCertificate(folder, { ca: authority, addresses, clock: systemClock }),
        keepPort: (used) => writePort(folder, used),
      })),
    ),
  );
}
