/** Sealed files: whatever was written is read, and nothing that was changed is. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { err, expectOk, ok, sensitive } from "#base";
import { openStream, sealStream, type SealSecret } from "./sealed-file.ts";
import { CHUNK_BYTES, headerBytes, parseFirstLine, parseHeader } from "./sealed-header.ts";

const KEY: SealSecret = { kind: "key", key: sensitive(new Uint8Array(32).fill(7)) };
const OTHER: SealSecret = { kind: "key", key: sensitive(new Uint8Array(32).fill(8)) };
const PASSPHRASE: SealSecret = { kind: "passphrase", passphrase: sensitive("correct horse battery") };

async function sealed(secret: SealSecret, pieces: readonly Uint8Array[]): Promise<Buffer> {
  const written: Uint8Array[] = [];
  expectOk(await sealStream(secret, pieces, (bytes) => ok(void written.push(Uint8Array.from(bytes)))));
  return Buffer.concat(written);
}

async function opened(secret: SealSecret, bytes: Uint8Array) {
  const read: Uint8Array[] = [];
  let at = 0;
  const source = (count: number) => {
    const piece = bytes.subarray(at, at + count);
    at += piece.length;
    return ok(piece);
  };
  const result = await openStream(secret, source, (piece) => ok(void read.push(Uint8Array.from(piece))));
  return result.ok ? ok(Buffer.concat(read)) : result;
}

const headerLength = (bytes: Buffer) => 21 + bytes.readUInt32BE(17);

describe("a sealed file", () => {
  test.each([0, 1, CHUNK_BYTES - 1, CHUNK_BYTES, CHUNK_BYTES + 1, 3 * CHUNK_BYTES, 200_000])(
    "of %i bytes is read as it was written",
    async (size) => {
      const plain = Buffer.alloc(size, "x");
      const file = await sealed(KEY, [plain.subarray(0, 10), plain.subarray(10)]);
      expect(expectOk(await opened(KEY, file)).equals(plain)).toBe(true);
      const chunks = Math.max(1, Math.ceil(size / CHUNK_BYTES));
      expect(file.length).toBe(headerLength(file) + size + 16 * chunks);
    },
  );

  test("is read in whatever pieces it was written", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.uint8Array({ maxLength: 90_000 }), { maxLength: 6 }), async (pieces) => {
        const file = await sealed(KEY, pieces);
        expect(expectOk(await opened(KEY, file)).equals(Buffer.concat(pieces))).toBe(true);
      }),
      { numRuns: 20 },
    );
  });

  test("with any byte flipped is refused", async () => {
    const file = await sealed(KEY, [Buffer.alloc(2 * CHUNK_BYTES + 100, "x")]);
    await fc.assert(
      fc.asyncProperty(fc.nat(file.length - 1), fc.integer({ min: 1, max: 255 }), async (at, mask) => {
        const changed = Buffer.from(file);
        changed[at] = (changed[at] ?? 0) ^ mask;
        expect((await opened(KEY, changed)).ok).toBe(false);
      }),
      { numRuns: 150 },
    );
  });

  test("cut off anywhere, or continued, is refused", async () => {
    const file = await sealed(KEY, [Buffer.alloc(2 * CHUNK_BYTES + 100, "x")]);
    const ends = [
      0,
      5,
      17,
      20,
      21,
      headerLength(file),
      headerLength(file) + CHUNK_BYTES + 16,
      headerLength(file) + 2 * (CHUNK_BYTES + 16),
      file.length - 1,
    ];
    for (const end of ends) expect({ end, ok: (await opened(KEY, file.subarray(0, end))).ok }).toEqual({ end, ok: false });
    expect((await opened(KEY, Buffer.concat([file, Buffer.from("x")]))).ok).toBe(false);
    await fc.assert(
      fc.asyncProperty(fc.nat(file.length - 1), async (end) => {
        expect((await opened(KEY, file.subarray(0, end))).ok).toBe(false);
      }),
      { numRuns: 60 },
    );
  });

  test("with exchanged, repeated or foreign chunks is refused", async () => {
    const size = CHUNK_BYTES + 16;
    const file = await sealed(KEY, [Buffer.alloc(3 * CHUNK_BYTES, "x")]);
    const start = headerLength(file);
    const [head, first, second, third] = [
      file.subarray(0, start),
      ...[0, 1, 2].map((at) => file.subarray(start + at * size, start + (at + 1) * size)),
    ] as [Buffer, Buffer, Buffer, Buffer];
    const other = await sealed(KEY, [Buffer.alloc(3 * CHUNK_BYTES, "x")]);
    const foreign = other.subarray(headerLength(other), headerLength(other) + size);
    for (const chunks of [
      [second, first, third],
      [first, first, second, third],
      [first, third],
      [foreign, second, third],
    ])
      expect((await opened(KEY, Buffer.concat([head, ...chunks]))).ok).toBe(false);
  });

  test("needs its own key, and says which secret it needs", async () => {
    const file = await sealed(KEY, [Buffer.from("x")]);
    expect(await opened(OTHER, file)).toEqual(err("cannot be opened with this key: it is another one, or the header was edited"));
    expect(await opened(PASSPHRASE, file)).toEqual(err("was sealed with a key; give --key-file"));
    expect((await sealStream({ kind: "key", key: sensitive(new Uint8Array(16)) }, [], () => ok(undefined))).ok).toBe(false);
  });

  test("with a passphrase is opened by it, in any Unicode form, and by no other", async () => {
    const file = await sealed({ kind: "passphrase", passphrase: sensitive("caf\u00e9 au lait !") }, [Buffer.from("x")]);
    expect(expectOk(await opened({ kind: "passphrase", passphrase: sensitive("cafe\u0301 au lait !") }, file)).toString()).toBe("x");
    expect(await opened(PASSPHRASE, file)).toEqual(
      err("cannot be opened with this passphrase: it is another one, or the header was edited"),
    );
    expect(await opened(KEY, file)).toEqual(err("was sealed with a passphrase; give --passphrase-file, or type it"));
  });

  test("ends with the error of its writer or its reader", async () => {
    expect(await sealStream(KEY, [Buffer.alloc(CHUNK_BYTES * 2)], () => err("disk full"))).toEqual(err("disk full"));
    let writes = 0;
    expect(await sealStream(KEY, [Buffer.alloc(CHUNK_BYTES * 2)], () => ((writes += 1) > 1 ? err("disk full") : ok(undefined)))).toEqual(
      err("disk full"),
    );
    const file = await sealed(KEY, [Buffer.alloc(CHUNK_BYTES * 2)]);
    for (const failing of [0, 1, 2, 3]) {
      let [reads, at] = [0, 0];
      const source = (count: number) => {
        reads += 1;
        if (reads > failing) return err("cannot be read");
        at += count;
        return ok(file.subarray(at - count, at));
      };
      expect(await openStream(KEY, source, () => ok(undefined))).toEqual(err("cannot be read"));
    }
  });
});

describe("the header", () => {
  const salt = new Uint8Array(32);
  const nonce = new Uint8Array(7);
  const json = (change: (header: Record<string, unknown>) => void) => {
    const bytes = headerBytes({ kdf: { name: "PBKDF2-HMAC-SHA-256", iterations: 600_000, salt }, nonce, check: "c" });
    const header = JSON.parse(Buffer.from(bytes.subarray(21)).toString()) as Record<string, unknown>;
    change(header);
    return Buffer.from(JSON.stringify(header));
  };
  const rows: { name: string; given: Uint8Array; want: string }[] = [
    {
      name: "too few iterations",
      given: json((header) => void (header["kdf"] = { ...(header["kdf"] as object), iterations: 1_000 })),
      want: "1000 iterations",
    },
    {
      name: "iterations that take hours",
      given: json((header) => void (header["kdf"] = { ...(header["kdf"] as object), iterations: 1e12 })),
      want: "iterations",
    },
    {
      name: "an unknown derivation",
      given: json((header) => void (header["kdf"] = { ...(header["kdf"] as object), name: "scrypt" })),
      want: "key derivation",
    },
    { name: "a short salt", given: json((header) => void (header["kdf"] = { name: "HKDF-SHA-256", salt: "AA==" })), want: "incomplete" },
    { name: "another cipher", given: json((header) => void (header["cipher"] = "AES-128-CBC")), want: "cipher is not supported" },
    { name: "no JSON", given: Buffer.from("{"), want: "cannot be read" },
    { name: "no object", given: Buffer.from("null"), want: "incomplete" },
  ];
  test.each(rows)("$name is refused", ({ given, want }) => {
    const parsed = parseHeader(given);
    expect(parsed.ok ? "" : parsed.error).toContain(want);
  });

  test("is short, and has a version", () => {
    const first = (line: string, length: number) => {
      const bytes = Buffer.alloc(line.length + 4);
      bytes.write(line);
      bytes.writeUInt32BE(length, line.length);
      return parseFirstLine(bytes);
    };
    expect(first("lattice-backup/1\n", 100)).toEqual(ok(100));
    expect(first("lattice-backup/1\n", 1_000_000)).toEqual(err("was edited: its header is too long"));
    expect(first("lattice-backup/7\n", 1)).toEqual(err("has another version (7); use the version of lattice that wrote it"));
    expect(first("lattice-backup/x\n", 1)).toEqual(err("has another version (unknown); use the version of lattice that wrote it"));
    expect(first("PK\u0003\u0004 a zip file  ", 1)).toEqual(err("is no backup of lattice"));
  });
});
