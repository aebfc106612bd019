/**
 * The API server as `lattice api-server --no-controllers` runs it: an embedded cluster without a log of actions, on its own socket.
 * A test over HTTP uses this one, so that it tests what users run.
 */
import { startEmbeddedCluster, type ClusterOptions, type EmbeddedCluster } from "#embedded-cluster";

export type ServedCluster = {
  readonly cluster: EmbeddedCluster;
  readonly url: string;
  /** PEM; absent with plain HTTP. */
  readonly certificateAuthority: string | undefined;
  readonly close: () => Promise<void>;
};

export type ServedClusterOptions = Pick<ClusterOptions, "clock" | "random" | "dataDir" | "tokens"> & {
  /** TLS with HTTP/2 and HTTP/1.1, instead of plain HTTP. */
  readonly secure?: boolean;
  /** 0: any free port. */
  readonly port?: number;
};

export async function serveCluster({ secure = false, port = 0, ...options }: ServedClusterOptions = {}): Promise<ServedCluster> {
  const cluster = await startEmbeddedCluster({ ...options, logActions: false });
  try {
    return { ...(await cluster.listen({ port, http: !secure })), cluster, close: () => cluster.close() };
  } catch (thrown) {
    await cluster.close();
    throw thrown;
  }
}
