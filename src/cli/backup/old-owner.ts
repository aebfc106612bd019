/**
 * Whether the cluster that a backup was made from still runs: then the restored one would be a second owner of the same machines.
 *
 * An API server that refuses the request answers all the same. Only silence, a certificate of another authority, or another cluster at the
 * address count as gone.
 */
import { err, ok, type Result } from "#base";
import { namespaces } from "#kube";
import { parseServerUrl, staticCredentials, type ClusterConfig, type KubeErrorKind } from "#kube-client";
import type { FilesManifest, ManifestServer } from "#pivot";
import type { CliIo } from "../io.ts";
import { clientOf } from "../pivot/child.ts";

const TIMEOUT_MS = 10_000;
const SILENT: ReadonlySet<KubeErrorKind> = new Set(["network", "timeout", "cancelled"]);

/** `others`: how Cluster API reached the cluster, with credentials. `target`: the address of the new owner, which may be that of the old one. */
export async function oldOwnerAnswers(
  io: CliIo,
  { source, servers = [] }: FilesManifest,
  { target, others }: { readonly target: string; readonly others: readonly ClusterConfig[] },
): Promise<Result<string | undefined, string>> {
  const known = servers.flatMap(anonymous);
  if (known.length === 0)
    return err("the backup does not name the address of the old owner; make sure that it does not run, then add --old-owner-is-gone");
  for (const config of [...others, ...known]) {
    if (config.server !== target && (await answers(io, config, source))) return ok(config.server);
  }
  return ok(undefined);
}

function anonymous({ url, certificateAuthority }: ManifestServer): readonly ClusterConfig[] {
  const server = parseServerUrl(url);
  if (!server.ok) return [];
  return [
    { server: server.value, credentials: staticCredentials({}), ...(certificateAuthority === undefined ? {} : { certificateAuthority }) },
  ];
}

async function answers(io: CliIo, config: ClusterConfig, identity: string): Promise<boolean> {
  const client = clientOf(io, config, TIMEOUT_MS);
  try {
    const found = await client.get(namespaces, { name: "kube-system" }, { signal: io.signal });
    if (!found.ok) return !SILENT.has(found.error.kind);
    const { uid = "", creationTimestamp = "" } = found.value.metadata;
    return `${uid} ${creationTimestamp}` === identity;
  } finally {
    await client.close();
  }
}
