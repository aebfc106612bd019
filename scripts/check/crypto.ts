/** The check `crypto`: no broken hash by name in any file but documentation, and no cryptography from npm. */
import { BANNED_PACKAGES, BROKEN_HASH, CRYPTO_EXCEPTIONS, type Exception } from "./crypto-rules.ts";
import type { Finding } from "./finding.ts";
import { withoutComments } from "./scan-source.ts";
import { lineAt, listFiles, readText, readTexts } from "./tree.ts";

const LOCKFILE = "package-lock.json"; // contains digests, which are random text; its own rules are below

export async function checkCrypto(root: string, exceptions: readonly Exception[] = CRYPTO_EXCEPTIONS): Promise<readonly Finding[]> {
  const files = (await listFiles(root)).filter((path) => !path.endsWith(".md") && path !== LOCKFILE);
  const findings: Finding[] = [];
  const excused = new Set(exceptions.map(({ file }) => file));
  for (const [file, text] of await readTexts(root, files)) {
    const named = namedIn(file, text);
    if (!excused.has(file)) findings.push(...named);
    else if (named.length === 0) findings.push({ file, message: "needs no exception; remove it from scripts/check/crypto-rules.ts" });
  }
  return [...findings, ...(await packageFindings(root))];
}

/** Comments may name them, to explain why they are refused. The digests of a go.sum are random text. */
function namedIn(file: string, text: string): readonly Finding[] {
  const code = /\.[cm]?[jt]s$/.test(file)
    ? withoutComments(file, text)
    : /(^|\/)go\.sum$/.test(file)
      ? text.replaceAll(/ h1:\S+$/gm, "")
      : text;
  return [...code.matchAll(BROKEN_HASH)].map((match) => ({
    file,
    line: lineAt(code, match.index),
    message: `${match[0]} is not allowed; use SHA-2 (#base has sha256Hex)`,
  }));
}

async function packageFindings(root: string): Promise<readonly Finding[]> {
  const manifest = JSON.parse((await readText(root, "package.json")) ?? "{}") as Record<string, Record<string, string> | undefined>;
  const groups = ["dependencies", "devDependencies", "optionalDependencies", "peerDependencies"];
  const direct = groups.flatMap((group) => Object.keys(manifest[group] ?? {}));
  const lock = JSON.parse((await readText(root, LOCKFILE)) ?? "{}") as { packages?: Record<string, { integrity?: string }> };
  const locked = Object.entries(lock.packages ?? {});
  return [
    ...direct.flatMap((name) => bannedFinding("package.json", name)),
    ...locked.flatMap(([path]) => bannedFinding(LOCKFILE, path.split("node_modules/").at(-1) ?? "")),
    ...locked
      .filter(([, { integrity }]) => integrity !== undefined && !integrity.startsWith("sha512-"))
      .map(([path]) => weakIntegrity(path)),
  ];
}

function bannedFinding(file: string, name: string): readonly Finding[] {
  const banned = BANNED_PACKAGES.find((entry) =>
    entry.name.endsWith("/*") ? name.startsWith(entry.name.slice(0, -1)) : entry.name === name,
  );
  return banned === undefined ? [] : [{ file, message: `${name} is not allowed: ${banned.why}` }];
}

function weakIntegrity(path: string): Finding {
  return { file: LOCKFILE, message: `${path} is not pinned by SHA-512` };
}
