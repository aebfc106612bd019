/** Reads files, as a port, with errors that name the file. */
import { readFile } from "node:fs/promises";
import { describeThrown, fromPromise, type Result } from "#base";

/** Rejects like `node:fs`. */
export type ReadFile = (path: string) => Promise<string>;
export type ReadError = { readonly kind: "not-found" | "unreadable"; readonly message: string };

const fromDisk: ReadFile = (path) => readFile(path, "utf8");

export function readText(path: string, read: ReadFile = fromDisk): Promise<Result<string, ReadError>> {
  return fromPromise(read(path), (thrown): ReadError => {
    const missing = thrown instanceof Error && "code" in thrown && (thrown.code === "ENOENT" || thrown.code === "ENOTDIR");
    return missing
      ? { kind: "not-found", message: `${path} does not exist` }
      : { kind: "unreadable", message: `${path} cannot be read: ${describeThrown(thrown)}` };
  });
}
