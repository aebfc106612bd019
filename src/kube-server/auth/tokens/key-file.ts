/**
 * The file with the key of ServiceAccount tokens in the data folder, readable only by its owner. Tokens stay valid after a restart.
 *
 * A key that cannot be read is an error at the start: a new key would silently invalidate every issued token.
 */
import { chmodSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { andThen, describeThrown, err, fromThrowing, mapErr, ok, reveal, sensitive, type Result } from "#base";
import { createSigningKey, loadSigningKey, writePrivateFile, type SigningKey } from "#pki";

const NAME = "service-account.key";
const OWNER_ONLY = 0o600;

export function openKeyFile(folder: string): Result<SigningKey, string> {
  const path = join(folder, NAME);
  const problemOf = (thrown: unknown) => `the key of ServiceAccount tokens, ${path}: ${describeThrown(thrown)}`;
  const kept = fromThrowing(
    () => readFileSync(path, "utf8"),
    (thrown) => thrown,
  );
  if (kept.ok) {
    return andThen(
      fromThrowing(() => chmodSync(path, OWNER_ONLY), problemOf),
      () => mapErr(loadSigningKey(sensitive(kept.value)), ({ message }) => problemOf(message)),
    );
  }
  if (!isMissing(kept.error)) return err(problemOf(kept.error));
  const key = createSigningKey();
  const written = mapErr(writePrivateFile(path, reveal(key.pem)), problemOf);
  return written.ok ? ok(key) : written;
}

function isMissing(thrown: unknown): boolean {
  return thrown instanceof Error && "code" in thrown && thrown.code === "ENOENT";
}
