import { describe, expect, it } from "vitest";
import { fileTree } from "../../test/builders/file-tree.ts";
import { checkCrypto } from "./crypto.ts";

const messages = async (files: Record<string, string>) => (await checkCrypto(await fileTree(files), [])).map(({ message }) => message);

describe("checkCrypto refuses", () => {
  const rows: { name: string; file: string; text: string; hit: string }[] = [
    { name: "md5 in source", file: "src/base/a.ts", text: `createHash("md5");`, hit: "md5" },
    { name: "sha1 in a test", file: "src/base/a.test.ts", text: `createHash('sha1');`, hit: "sha1" },
    { name: "SHA-1 in a script", file: "scripts/a.ts", text: `subtle.digest("SHA-1", b);`, hit: "SHA-1" },
    { name: "a signature with it", file: "src/pki/a.ts", text: `createSign("RSA-SHA1");`, hit: "SHA1" },
    { name: "a certificate's algorithm", file: "test/a.yaml", text: "alg: sha1WithRSAEncryption\n", hit: "sha1" },
    { name: "an identifier", file: "src/a/a.ts", text: "const x = hmacSha1(y);", hit: "Sha1" },
    { name: "a setting", file: "deploy/values.yaml", text: "digest: MD5\n", hit: "MD5" },
    { name: "a Go module", file: "a/go.sum", text: "a.test/go-md5 v1.0.0 h1:kCBKHpjveXqHToW7xuIMsTqU=\n", hit: "md5" },
    { name: "a shell script", file: ".ci/run", text: "md5sum x\n", hit: "md5" },
  ];
  it.each(rows)("$name", async ({ file, text, hit }) => {
    const root = await fileTree({ [file]: `\n${text}` });
    expect(await checkCrypto(root, [])).toEqual([{ file, line: 2, message: `${hit} is not allowed; use SHA-2 (#base has sha256Hex)` }]);
  });

  it("packages with cryptography in JavaScript, direct or transitive", async () => {
    const found = await messages({
      "package.json": JSON.stringify({ devDependencies: { "node-forge": "1.0.0", zod: "1.0.0" } }),
      "package-lock.json": JSON.stringify({ packages: { "": {}, "node_modules/a/node_modules/@noble/curves": { integrity: "sha512-x" } } }),
    });
    expect(found).toEqual([
      "node-forge is not allowed: TLS, X.509 and ciphers in JavaScript",
      "@noble/curves is not allowed: curves, ciphers and hashes in JavaScript",
    ]);
  });

  it("a package that is pinned by a broken hash", async () => {
    const lock = JSON.stringify({ packages: { "node_modules/a": { integrity: "sha1-x" } } });
    expect(await messages({ "package-lock.json": lock })).toEqual(["node_modules/a is not pinned by SHA-512"]);
  });

  it("an exception that is no longer needed", async () => {
    const root = await fileTree({ "a.ts": "const a = 1;" });
    expect(await checkCrypto(root, [{ file: "a.ts", why: "was needed once" }])).toMatchObject([{ file: "a.ts" }]);
  });
});

describe("checkCrypto allows", () => {
  const rows: { name: string; files: Record<string, string> }[] = [
    { name: "SHA-2", files: { "a.ts": `createHash("sha256"); createHash("sha512"); "sha-128x";` } },
    { name: "comments, which may explain what is refused", files: { "a.ts": "// no md5, no sha1\n/* SHA-1 */ const a = 1;" } },
    { name: "documentation", files: { "docs/fips.md": "md5 and SHA-1 are refused" } },
    { name: "digests and keys that contain the letters", files: { "a.pem": "xMD5+0sha1AAmd5q\n" } },
    { name: "the digests of Go modules", files: { "a/go.sum": "a.test/b v1.0.0 h1:kCBKHpjveMD5hXqHToW7xuIMsTqU=\n" } },
  ];
  it.each(rows)("$name", async ({ files }) => {
    expect(await messages(files)).toEqual([]);
  });

  it("files that must name it", async () => {
    const root = await fileTree({ "a.ts": `const refused = "md5";` });
    expect(await checkCrypto(root, [{ file: "a.ts", why: "is the list" }])).toEqual([]);
  });
});
