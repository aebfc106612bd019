/** `lattice api-server` as a measured process, on plain HTTP and any port, with its controllers unless a story leaves them out. */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Exchange } from "../api-server/exchange.ts";
import { TOKEN } from "../api-server/server-process.ts";
import { MeasuredProcess } from "./measured-process.ts";

export type MeasuredApiServer = AsyncDisposable & {
  readonly process: MeasuredProcess;
  readonly url: string;
  /** Requests as an administrator (`system:masters`). */
  readonly exchange: Exchange;
  /** A folder of this story; the data of the server are in `data` below it. */
  readonly home: string;
};

export type MeasuredApiServerOptions = {
  readonly controllers?: boolean;
  /** Keeps the objects in `home/data`. */
  readonly persistent?: boolean;
  /** The folder of an earlier server, for a restart on its data. It is not removed at the end. */
  readonly home?: string;
  /** Further arguments of `lattice api-server`. */
  readonly args?: readonly string[];
  /** Further lines of the token file: `token,user,uid,"group"`. */
  readonly tokens?: readonly string[];
};

export async function startMeasuredApiServer(options: MeasuredApiServerOptions = {}): Promise<MeasuredApiServer> {
  const { controllers = true, persistent = false, tokens = [], args = [] } = options;
  const home = options.home ?? (await mkdtemp(join(tmpdir(), "lattice-attack-")));
  const tokenFile = join(home, "tokens.csv");
  await writeFile(tokenFile, [`${TOKEN},admin,admin,"system:masters"`, ...tokens, ""].join("\n"), { mode: 0o600 });
  const process = new MeasuredProcess([
    "api-server",
    "--port",
    "0",
    "--http",
    "--token-file",
    tokenFile,
    ...(persistent ? ["--data-dir", join(home, "data")] : []),
    ...(controllers ? [] : ["--no-controllers"]),
    ...args,
  ]);
  const [, url = ""] = await process.untilPrinted(/^(http:\S+)\n/m);
  const exchange = new Exchange(url);
  await process.reset();
  return {
    process,
    url,
    exchange,
    home,
    [Symbol.asyncDispose]: async () => {
      exchange.close();
      await process[Symbol.asyncDispose]();
      if (options.home === undefined) await rm(home, { recursive: true, force: true });
    },
  };
}
