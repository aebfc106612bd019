/**
 * The check `names`: a type or class that src/ exports has its name alone, so that one name has one meaning in all folders. Generated files are
 * not read: their names come from a protocol, and files beside them translate them.
 */
import { parseSync } from "vite";
import type { Finding } from "./finding.ts";
import { lineAt, listFiles, readTexts } from "./tree.ts";

type Declared = { readonly file: string; readonly line: number };

export async function checkNames(root: string): Promise<readonly Finding[]> {
  const files = (await listFiles(root, "src")).filter(
    (path) => path.endsWith(".ts") && !/\.test\.ts$|\.test-support\.ts$|\/generated\//.test(path),
  );
  return repeatedTypes(await readTexts(root, files));
}

export function repeatedTypes(texts: ReadonlyMap<string, string>): readonly Finding[] {
  const declared = new Map<string, Declared[]>();
  for (const [file, text] of texts) {
    for (const { name, start } of exportedTypes(file, text)) {
      const places = declared.get(name) ?? [];
      places.push({ file, line: lineAt(text, start) });
      declared.set(name, places);
    }
  }
  return [...declared].flatMap(([name, places]) => {
    const [first, ...others] = places;
    return others.map(({ file, line }) => ({
      file,
      line,
      message: `exports ${name}, a name that ${first?.file ?? ""} exports too; name the thing in the domain`,
    }));
  });
}

const TYPES = new Set(["TSTypeAliasDeclaration", "TSInterfaceDeclaration", "ClassDeclaration"]);

type Statement = {
  readonly type: string;
  readonly start: number;
  readonly declaration?: { readonly type: string; readonly id?: { readonly name: string } };
};

function exportedTypes(file: string, text: string): readonly { readonly name: string; readonly start: number }[] {
  const body = parseSync(file, text).program.body as unknown as readonly Statement[];
  return body.flatMap(({ type, start, declaration }) =>
    type === "ExportNamedDeclaration" && TYPES.has(declaration?.type ?? "") ? [{ name: declaration?.id?.name ?? "", start }] : [],
  );
}
