import { chmodSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { expectOk } from "#base";
import { openKeyFile } from "./key-file.ts";

let folder = "";

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "lattice-key-"));
});

afterEach(() => rmSync(folder, { recursive: true }));

test("a key is created once, readable only by its owner, and the same after a restart", () => {
  const first = expectOk(openKeyFile(folder));
  const path = join(folder, "service-account.key");
  expect(statSync(path).mode & 0o777).toBe(0o600);
  chmodSync(path, 0o644);
  expect(expectOk(openKeyFile(folder)).id).toBe(first.id);
  expect(statSync(path).mode & 0o777).toBe(0o600);
});

test.each([
  { name: "is no key", spoil: (path: string) => writeFileSync(path, "nonsense") },
  { name: "cannot be read", spoil: (path: string) => mkdirSync(path) },
])("a file that $name stops the start: a new key would end every token that is out there", ({ spoil }) => {
  spoil(join(folder, "service-account.key"));
  expect(openKeyFile(folder)).toMatchObject({ ok: false, error: expect.stringContaining("the key of ServiceAccount tokens") });
});

test("a missing folder is reported", () => {
  expect(openKeyFile(join(folder, "nope"))).toMatchObject({ ok: false, error: expect.stringContaining("service-account.key") });
});
