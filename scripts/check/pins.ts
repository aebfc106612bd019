/**
 * The check `pins`: exact versions only, and no file names the server of packages.
 *
 * A registry's name in a lockfile is used by every npm, also behind a mirror or without internet access.
 */
import type { Finding } from "./finding.ts";
import { REGISTRY_EXCEPTIONS, REGISTRY_HOSTS } from "./registry-hosts.ts";
import { lineAt, listFiles, readText, readTexts } from "./tree.ts";

const EXACT = /^\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?$/;
const GROUPS = ["dependencies", "devDependencies", "optionalDependencies", "overrides"];

export async function checkPins(root: string): Promise<readonly Finding[]> {
  const manifest = JSON.parse((await readText(root, "package.json")) ?? "{}") as Record<string, unknown>;
  const loose = GROUPS.flatMap((group) => looseVersions(group, manifest[group]));
  return [...loose, ...(await hostFindings(root))];
}

/** Overrides may nest: `{ "a": { "b": "1.0.0" } }`. */
function looseVersions(where: string, value: unknown): readonly Finding[] {
  if (value === undefined || (typeof value === "string" && EXACT.test(value))) return [];
  if (typeof value === "object" && value !== null) {
    return Object.entries(value).flatMap(([name, inner]) => looseVersions(`${where} ${name}`, inner));
  }
  return [{ file: "package.json", message: `${where} is ${JSON.stringify(value)}; write one exact version` }];
}

async function hostFindings(root: string): Promise<readonly Finding[]> {
  const findings: Finding[] = [];
  for (const [file, text] of await readTexts(root, await listFiles(root))) {
    if (REGISTRY_EXCEPTIONS.some((exception) => exception.file === file)) continue;
    for (const match of text.matchAll(REGISTRY_HOSTS)) {
      findings.push({
        file,
        line: lineAt(text, match.index),
        message: `names the registry ${match[0]}; remove it, so that npm's configuration decides`,
      });
    }
    if (file === "package-lock.json" && /"resolved": "https?:/.test(text)) findings.push({ file, message: RESOLVED });
    if (file.endsWith(".npmrc") && /^\s*(@[^:]+:)?registry\s*=/m.test(text)) findings.push({ file, message: "sets a registry" });
  }
  return findings;
}

const RESOLVED = "names the servers of packages; .npmrc has omit-lockfile-registry-resolved: write it again with npm install";
