/** The API-server process. Its code is imported when it runs: the supervisor needs neither the API server nor the controllers. */
import type { Result } from "#base";
import type { ServeClusterOptions } from "./serve-cluster.ts";

export async function serveCluster(options: ServeClusterOptions): Promise<Result<void, string>> {
  return (await import("./serve-cluster.ts")).serveCluster(options);
}
