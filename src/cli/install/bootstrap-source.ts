/** A cluster that can be used as a bootstrap cluster: one that a kubeconfig leads to, or one that is made for it. */
import { ok, silentLogger, type Result } from "#base";
import { connect, type Connection } from "../cluster.ts";
import type { CliIo } from "../io.ts";
import { shortPath } from "../short-path.ts";

export type BootstrapSource = {
  /** The file of its kubeconfig, as it is shown. */
  readonly kubeconfig: string;
  /** Undefined: it does not exist. */
  readonly find: (signal: AbortSignal) => Promise<Result<Connection | undefined, string>>;
  /** It exists afterwards. Repeated after a crash. */
  readonly create: (signal: AbortSignal) => Promise<Result<void, string>>;
  /** Absent: it was there before, and stays. */
  readonly remove?: ((signal: AbortSignal) => Promise<Result<void, string>>) | undefined;
  readonly close: () => Promise<void>;
};

export async function kubeconfigSource(io: CliIo, path: string): Promise<Result<BootstrapSource, string>> {
  const connected = await connect(io, { kubeconfig: path }, { logger: silentLogger });
  if (!connected.ok) return connected;
  return ok({
    kubeconfig: shortPath(io.cwd, path),
    find: () => Promise.resolve(connected),
    create: () => Promise.resolve(ok(undefined)),
    close: () => connected.value.client.close(),
  });
}
