/**
 * The files of a cluster's identity in its data folder, beside `service-account.key`. All are written with mode 0600.
 *
 * A file that cannot be used stops the start and is never overwritten: a new key or token would invalidate every kubeconfig that was issued.
 */
import { readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { describeThrown, err, fromThrowing, type Result } from "#base";
import { readPrivateFile, writePrivateFile } from "#pki";

export const IDENTITY_FILES = {
  authorityCertificate: "ca.crt",
  authorityKey: "ca.key",
  servingCertificate: "apiserver.crt",
  servingKey: "apiserver.key",
  tokens: "tokens.json",
  port: "port",
} as const;

/** Written by the server, in the same folder. */
const SERVICE_ACCOUNT_KEY = "service-account.key";
/** Certificates and the port are no secrets. */
const PUBLIC_FILES: readonly string[] = [IDENTITY_FILES.authorityCertificate, IDENTITY_FILES.servingCertificate, IDENTITY_FILES.port];
const MAX_BYTES = 4 * 1024 * 1024;

export type IdentityFile = {
  readonly path: string;
  /** Undefined: the file does not exist. */
  readonly read: () => Result<string | undefined, string>;
  readonly write: (text: string) => Result<void, string>;
};

export function identityFile(folder: string, name: string): IdentityFile {
  const path = join(folder, name);
  return {
    path,
    read: () => readPrivateFile(path, { maxBytes: MAX_BYTES, readableByOthers: PUBLIC_FILES.includes(name) }),
    write: (text) =>
      Buffer.byteLength(text) > MAX_BYTES ? err(`${path} would have more than ${MAX_BYTES} bytes`) : writePrivateFile(path, text),
  };
}

/** A process that was killed while it wrote a file leaves a folder that `writePrivateFile` has created. The caller holds the lock of the folder. */
export function removeUnfinishedFiles(folder: string): void {
  const names = [SERVICE_ACCOUNT_KEY, ...Object.values(IDENTITY_FILES)];
  const isUnfinished = (entry: string) => names.some((name) => entry.startsWith(`.${name}-`) && entry.length === name.length + 8);
  fromThrowing(() => {
    for (const entry of readdirSync(folder).filter(isUnfinished)) rmSync(join(folder, entry), { recursive: true, force: true });
  }, describeThrown);
}
