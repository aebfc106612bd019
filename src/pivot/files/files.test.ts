/** Files of exports and backups: names, manifest, receipt, archive, and hostile content. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { err, expectOk, ok } from "#base";
import type { Json, KubeObject } from "#kube";
import { archiveBytes, ArchiveReader } from "./archive-entries.ts";
import { commentedJson, parseCommentedJson } from "./commented-json.ts";
import { fileNameOf, isExportFile, isFileName, MANIFEST_FILE } from "./file-names.ts";
import { FILE_LIMITS } from "./limits.ts";
import { fileNameProblems, manifestText, parseManifest, writtenObject, type FilesManifest } from "./manifest.ts";
import { claimText, parseClaim, parseReceipt, receiptText } from "./receipt.ts";
import { savedObjects } from "./saved-objects.ts";

const kind = {
  resource: { group: "", version: "v1", kind: "Secret", plural: "secrets", namespaced: true },
  rule: "owned",
  hasStatus: false,
} as const;
const secret = (name: string, uid = `uid-${name}`): KubeObject => ({
  apiVersion: "v1",
  kind: "Secret",
  metadata: { name, namespace: "prod", uid },
});
const node = (object: KubeObject) => ({ uid: object.metadata.uid ?? "", kind, object, owners: [], level: 0 });
const manifest = (objects: readonly KubeObject[]): FilesManifest => ({
  version: 1,
  purpose: "export",
  state: "complete",
  id: "a",
  namespace: "prod",
  source: "s",
  epoch: 1,
  createdAt: "2026-01-01T00:00:00Z",
  pausables: [],
  providers: [],
  objects: objects.map((object) => writtenObject(node(object)).entry),
});
const file = (object: KubeObject) => ({ name: fileNameOf(object), bytes: new TextEncoder().encode(writtenObject(node(object)).text) });

describe("names of files", () => {
  it("are clusterctl's", () => {
    expect(fileNameOf(secret("prod-ca"))).toBe("Secret_prod_prod-ca.yaml");
    expect(fileNameOf({ kind: "AWSClusterStaticIdentity", metadata: { name: "default" } })).toBe("AWSClusterStaticIdentity__default.yaml");
  });

  it.each([
    ["Secret_prod_prod-ca.yaml", true],
    ["Identity__a.b.yaml", true],
    ["Secret_prod_..yaml", false],
    ["Secret_prod_../../etc/passwd.yaml", false],
    ["../Secret_prod_x.yaml", false],
    ["Secret_prod_a_b.yaml", false],
    ["secret_prod_a.yaml", false],
    ["Secret_prod_a.json", false],
    ["Secret_prod_a\u0000.yaml", false],
    ["", false],
  ])("%j is a name: %s", (name, want) => expect(isFileName(name)).toBe(want));

  it("of an export are objects' or its own", () => {
    expect([MANIFEST_FILE, "lattice-import.yaml", "lattice-receipt.yaml", "Secret_a_b.yaml", ".lattice-partial"].map(isExportFile)).toEqual(
      [true, true, true, true, false],
    );
  });

  it("are unique: kinds of one name in two groups are a problem", () => {
    const other = { ...secret("a"), apiVersion: "example.com/v1" };
    expect(fileNameProblems([secret("a"), secret("b"), other])).toEqual([
      "Secret_prod_a.yaml would be the file of two objects, of v1 and of example.com/v1; move one of them first",
    ]);
  });
});

describe("JSON in comments", () => {
  it("is read as it was written, and clusterctl sees no document in it", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const text = commentedJson("a title", value);
        expect(text).toMatch(/^(#.*\n)+$/);
        expect(parseCommentedJson(text)).toEqual(ok(JSON.parse(JSON.stringify(value))));
      }),
      { numRuns: 50 },
    );
  });

  it("is refused when any character of it is changed or missing", () => {
    const text = manifestText(manifest([secret("a")]));
    const start = text.indexOf("\n") + 1;
    fc.assert(
      fc.property(fc.integer({ min: start, max: text.length - 2 }), (at) => {
        const changed = text.slice(0, at) + (text[at] === "x" ? "y" : "x") + text.slice(at + 1);
        expect(parseCommentedJson(changed).ok).toBe(false);
        expect(parseCommentedJson(text.slice(0, at)).ok).toBe(false);
      }),
      { numRuns: 100 },
    );
    expect(parseCommentedJson("")).toEqual(err("is incomplete"));
  });
});

describe("the manifest", () => {
  const rows: { name: string; change: (value: Record<string, Json>) => void; want: string }[] = [
    { name: "another version", change: (value) => void (value["version"] = 2), want: "has another version" },
    { name: "no id", change: (value) => void delete value["id"], want: "lacks fields" },
    { name: "an unknown state", change: (value) => void (value["state"] = "ready"), want: "lacks fields" },
    { name: "an epoch below zero", change: (value) => void (value["epoch"] = -1), want: "lacks fields" },
    {
      name: "an entry without a kind",
      change: (value) => void (value["objects"] = [{ file: "f", sha256: "s", uid: "u", hash: "h" }]),
      want: "lacks fields",
    },
    { name: "pausables without a name", change: (value) => void (value["pausables"] = [{}]), want: "lacks fields" },
  ];
  it.each(rows)("$name is refused", ({ change, want }) => {
    const value = structuredClone(manifest([secret("a")])) as unknown as Record<string, Json>;
    change(value);
    const parsed = parseManifest(commentedJson("t", value));
    expect(parsed.ok ? "" : parsed.error).toContain(want);
  });

  it("is read as it was written", () => {
    expect(parseManifest(manifestText(manifest([secret("a")])))).toEqual(ok(manifest([secret("a")])));
  });
});

describe("receipt and claim", () => {
  const receipt = { id: "a", digest: "d", target: "t", epoch: 2, objects: 3, committedAt: "now" };
  it("are read as they were written", () => {
    expect(parseReceipt(receiptText(receipt))).toEqual(ok(receipt));
    expect(parseClaim(claimText({ id: "a", target: "t", ended: true }))).toEqual(ok({ id: "a", target: "t", ended: true }));
  });
  it("are not taken for each other", () => {
    expect(parseReceipt(claimText({ id: "a", target: "t", ended: true }))).toEqual(err("is no receipt of an import"));
    expect(parseClaim(receiptText(receipt))).toEqual(err("is no claim of an import"));
  });
});

describe("saved objects", () => {
  const [a, b] = [secret("a"), secret("b")];
  it("are those of the manifest, with their hashes", () => {
    expect(expectOk(savedObjects([file(a), file(b)], manifest([a, b]))).map(({ object }) => object)).toEqual([a, b]);
  });

  const text = (name: string, content: string) => ({ name, bytes: new TextEncoder().encode(content) });
  const rows: { name: string; files: Parameters<typeof savedObjects>[0]; with?: FilesManifest; want: string }[] = [
    { name: "a missing file", files: [file(a)], with: manifest([a, b]), want: "Secret_prod_b.yaml is missing" },
    { name: "a foreign file", files: [file(a), file(b)], with: manifest([a]), want: "Secret_prod_b.yaml is not in the manifest" },
    { name: "a changed file", files: [text("Secret_prod_a.yaml", "{}")], with: manifest([a]), want: "was changed" },
    { name: "a file twice in the manifest", files: [file(a)], with: manifest([a, a]), want: "names a file twice" },
    {
      name: "another object under the name",
      files: [text("Secret_prod_a.yaml", JSON.stringify(b))],
      want: "has another object, whose file is Secret_prod_b.yaml",
    },
    { name: "no JSON", files: [text("Secret_prod_a.yaml", "kind: Secret")], want: "is no object in JSON" },
    { name: "no text", files: [{ name: "Secret_prod_a.yaml", bytes: Uint8Array.of(0xff, 0xfe) }], want: "is no object in JSON" },
    { name: "a list", files: [text("Secret_prod_a.yaml", "[]")], want: "is no object in JSON" },
    {
      name: "deep nesting",
      files: [text("Secret_prod_a.yaml", `{"a":${"[".repeat(20_000)}${"]".repeat(20_000)}}`)],
      want: "is no object in JSON",
    },
    { name: "no metadata", files: [text("Secret_prod_a.yaml", '{"apiVersion":"v1","kind":"Secret"}')], want: "is no Kubernetes object" },
    {
      name: "no uid",
      files: [text("Secret_prod_a.yaml", JSON.stringify({ ...a, metadata: { name: "a", namespace: "prod" } }))],
      want: "is no Kubernetes object",
    },
    {
      name: "labels that are none",
      files: [text("Secret_prod_a.yaml", JSON.stringify({ ...a, metadata: { ...a.metadata, labels: { x: 1 } } }))],
      want: "is no Kubernetes object",
    },
    {
      name: "owners that are none",
      files: [text("Secret_prod_a.yaml", JSON.stringify({ ...a, metadata: { ...a.metadata, ownerReferences: [{}] } }))],
      want: "is no Kubernetes object",
    },
    {
      name: "one uid twice",
      files: [file(a), file(secret("b", "uid-a"))],
      want: "Secret_prod_b.yaml and Secret_prod_a.yaml are the same object",
    },
    { name: "another file", files: [text("notes.txt", "x")], want: "is no name of an object's file" },
  ];
  it.each(rows)("$name is refused", ({ files, with: given, want }) => {
    const read = savedObjects(files, given);
    expect(read.ok ? "" : read.error.join("; ")).toContain(want);
  });

  it("never throw, whatever the files are", () => {
    fc.assert(
      fc.property(fc.array(fc.record({ name: fc.constantFrom("Secret_prod_a.yaml", "x", "../y"), bytes: fc.uint8Array() })), (files) => {
        const read = savedObjects(files, undefined);
        expect(read.ok).toBe(files.length === 0);
      }),
    );
  });
});

describe("the archive", () => {
  const read = (bytes: Uint8Array, pieces: number) => {
    const reader = new ArchiveReader();
    for (let at = 0; at < bytes.length; at += pieces) {
      const pushed = reader.push(bytes.subarray(at, at + pieces));
      if (!pushed.ok) return pushed;
    }
    return reader.end();
  };
  const joined = (files: readonly { name: string; text: string }[]) => Buffer.concat([...archiveBytes(files)]);

  it("is read as it was written, in pieces of any size", () => {
    fc.assert(
      fc.property(
        fc.array(fc.record({ name: fc.string({ maxLength: 20 }), text: fc.string({ unit: "grapheme" }) }), { maxLength: 5 }),
        fc.integer({ min: 1, max: 40 }),
        (files, pieces) => {
          const want = files.map(({ name, text }) => ({ name: Buffer.from(name).toString(), text: Buffer.from(text).toString() }));
          const got = expectOk(read(joined(files), pieces)).map(({ name, bytes }) => ({ name, text: Buffer.from(bytes).toString() }));
          expect(got).toEqual(want);
        },
      ),
    );
  });

  it("that ends within a file is refused", () => {
    const bytes = joined([{ name: "a", text: "content" }]);
    for (let end = 1; end < bytes.length; end += 1) expect(read(bytes.subarray(0, end), 3)).toEqual(err("ends within a file"));
  });

  it("that announces more than the limits is refused before its content is read", () => {
    const length = (value: number) => {
      const bytes = Buffer.alloc(4);
      bytes.writeUInt32BE(value);
      return bytes;
    };
    expect(read(length(1_000), 4)).toEqual(err("has a file or a name that is larger than 512 bytes"));
    expect(read(Buffer.concat([length(1), Buffer.from("a"), length(FILE_LIMITS.fileBytes + 1)]), 4).ok).toBe(false);
    expect(read(Buffer.concat([length(1), Uint8Array.of(0xff)]), 64)).toEqual(err("has a file whose name is no text"));
    const many = Buffer.concat(
      Array.from({ length: FILE_LIMITS.files + 1 }, () => Buffer.concat([length(1), Buffer.from("a"), length(0)])),
    );
    expect(read(many, 65_536)).toEqual(err(`has more than ${FILE_LIMITS.files} files`));
  });
});
