/**
 * Part of the check `docs`: public exports are documented at their declaration. Functions, classes and values have a doc comment with an
 * `@example`; types have a doc comment.
 *
 * Entry points are read from package.json's `exports`; an export is followed through index files and `#aliases` to its declaration. The
 * compiler has no API for this (TypeScript 7), so declarations are found by how this project writes them: `export function name`.
 */
import { posix } from "node:path";
import type { Finding } from "./finding.ts";
import { lineAt } from "./tree.ts";

export type Texts = ReadonlyMap<string, string>;
export type Exported = { readonly name: string; readonly isType: boolean; readonly from: string };
export type Manifest = {
  readonly exports?: Readonly<Record<string, { readonly types?: string } | string>>;
  readonly imports?: Readonly<Record<string, { readonly source?: string }>>;
};

export function undocumentedExports(texts: Texts, manifestText: string | undefined): readonly Finding[] {
  const manifest = JSON.parse(manifestText ?? "{}") as Manifest;
  return entryFiles(manifest)
    .filter((entry) => texts.has(entry))
    .flatMap((entry) => exportsOf(texts, entry).flatMap((exported) => check(texts, manifest, exported)));
}

/** "./dist/types/patch/index.d.ts" is made from "src/patch/index.ts". */
export function entryFiles({ exports = {} }: Manifest): readonly string[] {
  return Object.values(exports).flatMap((entry) => {
    const types = typeof entry === "string" ? undefined : entry.types;
    return types === undefined ? [] : [types.replace(/^\.\/dist\/types\//, "src/").replace(/\.d\.ts$/, ".ts")];
  });
}

export function exportsOf(texts: Texts, file: string): readonly Exported[] {
  const text = texts.get(file) ?? "";
  return [...text.matchAll(/^export (type )?\{([^}]*)\} from "([^"]+)";/gm)].flatMap(([, allTypes, names = "", from = ""]) =>
    names
      .split(",")
      .map((name) => name.trim())
      .filter((name) => name !== "")
      .map((name) => ({
        name: name.replace(/^type /, "").replace(/ as .*$/, ""),
        isType: allTypes !== undefined || name.startsWith("type "),
        from: from.startsWith("#") ? from : posix.join(posix.dirname(file), from),
      })),
  );
}

function check(texts: Texts, manifest: Manifest, exported: Exported): readonly Finding[] {
  const file = fileOf(manifest, exported.from);
  const through = exportsOf(texts, file).find(({ name }) => name === exported.name);
  if (through !== undefined) return check(texts, manifest, { ...through, isType: exported.isType });
  const text = texts.get(file) ?? "";
  const declared = new RegExp(
    `^export (?:declare )?(?:async )?(?:abstract )?(?:function\\*?|class|const|type|interface) ${exported.name}\\b`,
    "m",
  ).exec(text);
  if (declared === null) return [{ file, message: `does not declare ${exported.name}, which a public entry point exports` }];
  const comment = /\/\*\*(?:(?!\*\/)[^])*\*\/\s*$/.exec(text.slice(0, declared.index))?.[0];
  const line = lineAt(text, declared.index);
  if (comment === undefined) return [{ file, line, message: `${exported.name} is public and has no doc comment` }];
  if (exported.isType || comment.includes("@example")) return [];
  return [{ file, line, message: `${exported.name} is public and its doc comment has no @example` }];
}

export function fileOf({ imports = {} }: Manifest, from: string): string {
  return from.startsWith("#") ? (imports[from]?.source ?? from).replace(/^\.\//, "") : from;
}
