/** The files of one component for `lattice bundle`: a file, or all manifests in a folder. Files that are not manifests are reported. */
import { readdirSync, statSync } from "node:fs";
import { extname, join, relative, resolve } from "node:path";
import { err, fromThrowing, ok, type Result } from "#base";
import type { CliIo } from "./io.ts";
import { MAX_RESOURCE_FILE, readRegularText } from "./regular-file.ts";

export type ComponentFiles = {
  readonly files: readonly { readonly path: string; readonly text: string }[];
  readonly leftOut: readonly string[];
};

const EXTENSIONS = new Set([".yaml", ".yml", ".json"]);
const MAX_FILES = 2_000;

export function readComponentFiles(io: CliIo, path: string): Result<ComponentFiles, string> {
  const listed = listFiles(io, path);
  if (!listed.ok) return err(`${path}: ${listed.error}`);
  const { paths, leftOut } = listed.value;
  if (paths.length === 0) return err(`${path}: the folder has no .yaml, .yml or .json file`);
  if (paths.length > MAX_FILES) return err(`${path}: the folder has more than ${MAX_FILES} files`);
  const files: { path: string; text: string }[] = [];
  for (const file of paths) {
    const text = readRegularText(resolve(io.cwd, file), { bytes: MAX_RESOURCE_FILE });
    if (!text.ok) return err(`${file}: ${text.error}`);
    files.push({ path: file, text: text.value });
  }
  return ok({ files, leftOut });
}

function listFiles(io: CliIo, path: string): Result<{ paths: readonly string[]; leftOut: readonly string[] }, string> {
  const full = resolve(io.cwd, path);
  return fromThrowing(
    () => {
      if (!statSync(full).isDirectory()) return { paths: [path], leftOut: [] };
      const entries = readdirSync(full, { recursive: true, withFileTypes: true }).filter((entry) => !entry.isDirectory());
      const named = entries.map((entry) => ({ entry, file: join(path, relative(full, join(entry.parentPath, entry.name))) }));
      const isManifest = ({ entry }: (typeof named)[number]) => entry.isFile() && EXTENSIONS.has(extname(entry.name));
      return {
        paths: named
          .filter(isManifest)
          .map(({ file }) => file)
          .toSorted(),
        leftOut: named
          .filter((one) => !isManifest(one))
          .map(({ file }) => `${file}, which is not a manifest`)
          .toSorted(),
      };
    },
    () => "there is no such file or folder",
  );
}
