/**
 * A token in a file that is replaced while the process runs (projected service account tokens: about every hour).
 *
 * It is read again after a minute and after a 401. If the file cannot be read, the last token is kept, which may still be valid.
 */
import { ok, reveal, sensitive, type Clock, type Result, type Sensitive } from "#base";
import type { ClientCertificate, Credential, Credentials } from "../cluster-config.ts";
import { failure, type KubeError } from "../errors.ts";
import { readText, type ReadFile } from "../read-text.ts";

const REREAD_MS = 60_000;

export type TokenFileOptions = {
  readonly path: string;
  /** The token to use until the file can be read. */
  readonly fallback?: Sensitive<string> | undefined;
  readonly certificate?: ClientCertificate | undefined;
  readonly clock: Clock;
  readonly readFile?: ReadFile | undefined;
};

export function tokenFileCredentials(options: TokenFileOptions): Credentials {
  let token = options.fallback;
  let readAt: number | undefined;

  const reread = async (): Promise<Result<void, KubeError>> => {
    const text = await readText(options.path, options.readFile);
    const found = text.ok ? text.value.trim() : "";
    if (found !== "") {
      // the same text keeps the same value, by which a caller detects that the token is unchanged
      if (token === undefined || reveal(token) !== found) token = sensitive(found);
      readAt = options.clock.monotonic();
    }
    if (token !== undefined) return ok(undefined);
    return failure("unauthorized", text.ok ? `the token file ${options.path} is empty` : `no token: ${text.error.message}`, "useless");
  };

  return {
    async get() {
      if (readAt === undefined || options.clock.monotonic() - readAt >= REREAD_MS) {
        const read = await reread();
        if (!read.ok) return read;
      }
      return ok<Credential>({ token, certificate: options.certificate });
    },
    refused(credential) {
      // of many calls that failed with the old token only the first one reads the file again
      if (credential.token === token) readAt = undefined;
      return true;
    },
    close() {},
  };
}
