/**
 * The `source` files of services and Score files. A service file may come from a pull request, and the content of its sources is written to
 * a ConfigMap: so only files in its folder, or below, are read.
 */
import { realpathSync } from "node:fs";
import { dirname, isAbsolute, resolve } from "node:path";
import { andThen, err, fromThrowing, ok, type Result } from "#base";
import type { SourceFiles } from "#compile";
import { MAX_SMALL_FILE, readRegularFile } from "./regular-file.ts";

/** Limit of all files that one command reads for its services. */
export const MAX_SOURCE_BYTES = 16 * 1024 * 1024;

type Named = { readonly source: string; readonly folder: string };

/** `fileOf`: the path of the service file, by the name of the document in messages. */
export function sourceFiles(cwd: string, fileOf: (from: string) => string): SourceFiles {
  const named = new Map<string, Named>();
  const known = new Map<string, Result<Uint8Array, string>>();
  let total = 0;
  const read = (key: string): Result<Uint8Array, string> => {
    const one = named.get(key);
    if (one === undefined) return err("no service refers to it");
    return andThen(readSource(one), (bytes) => {
      total += bytes.length;
      return total > MAX_SOURCE_BYTES
        ? err(`the files of all services together have more than ${MAX_SOURCE_BYTES / 1024 / 1024} MiB`)
        : ok(bytes);
    });
  };
  return {
    locate: (source, from) => {
      const file = fileOf(from);
      const key = `${file}\u0000${source}`;
      named.set(key, { source, folder: resolve(cwd, dirname(file)) });
      return key;
    },
    // each is read once, so that all services get the same content
    read: (key) => {
      const result = known.get(key) ?? read(key);
      known.set(key, result);
      return result;
    },
  };
}

function readSource({ source, folder }: Named): Result<Uint8Array, string> {
  const name = JSON.stringify(source);
  if (isAbsolute(source)) return err(`${name} is an absolute path; name a file in the folder of the service file, or below it`);
  const real = fromThrowing(
    () => realpathSync(folder),
    () => `${name}: the folder of the service file cannot be read`,
  );
  return andThen(real, (within) => {
    const read = readRegularFile(resolve(within, source), { bytes: MAX_SMALL_FILE, within });
    return read.ok ? read : err(`${name}: ${read.error}`);
  });
}
