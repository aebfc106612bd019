/**
 * Everything that is generated, as a map from path to content. Nothing here writes: `npm run generate` does, and `npm run check` compares.
 *
 * A generator is a pure function of the source. Add a new one to GENERATORS, and name `npm run generate` in the first lines of its files:
 * by that, files that no generator writes are found.
 */
import { generateArchitecture } from "./architecture.ts";
import { generateConditionFiles } from "./conditions.ts";
import { generateCrdFiles } from "./crds.ts";
import { generateLinkProtocol } from "./link-protocol.ts";
import { generateRbacFiles } from "./rbac.ts";

export type GeneratedFiles = ReadonlyMap<string, string>;

const GENERATORS: readonly (() => GeneratedFiles)[] = [
  generateCrdFiles,
  generateRbacFiles,
  generateConditionFiles,
  () => generateArchitecture(),
  () => generateLinkProtocol(),
];

export function generatedFiles(generators: readonly (() => GeneratedFiles)[] = GENERATORS): GeneratedFiles {
  const files = new Map<string, string>();
  for (const [path, content] of generators.flatMap((generate) => [...generate()])) {
    if (files.has(path)) throw new Error(`two generators write ${path}`);
    files.set(path, content);
  }
  return files;
}

export function isGenerated(text: string): boolean {
  return text.split("\n", 5).some((line) => line.includes("npm run generate"));
}
