/** The file of a backup on disk: whole, private, and in place of no other one. */
import { linkSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { err, ok } from "#base";
import { fileTree } from "../../../test/builders/file-tree.ts";
import { writeSealedFile, type SealedOutput } from "./sealed-output.ts";

const EXISTS = err("exists already; name another file, or replace it with --force");

test("a file that is created while the backup is written is not replaced, and nothing is left beside it", async () => {
  const folder = await fileTree({});
  const path = join(folder, "prod.backup");
  const seal: SealedOutput["seal"] = (write) => {
    writeFileSync(path, "another");
    write(Buffer.from("mine"));
    return Promise.resolve(ok(undefined));
  };
  expect(await writeSealedFile(path, { force: false, seal })).toEqual(EXISTS);
  expect([readFileSync(path, "utf8"), readdirSync(folder)]).toEqual(["another", ["prod.backup"]]);
  expect(await writeSealedFile(path, { force: true, seal })).toEqual(ok(4));
  expect([readFileSync(path, "utf8"), statSync(path).mode & 0o777, statSync(path).nlink]).toEqual(["mine", 0o600, 1]);
});

test("a backup that cannot be completed leaves the file that is to be replaced as it was", async () => {
  const folder = await fileTree({ "prod.backup": "before" });
  const path = join(folder, "prod.backup");
  linkSync(path, join(folder, "second-name"));
  const written = await writeSealedFile(path, { force: true, seal: () => Promise.resolve(err("disk full")) });
  expect(written).toEqual(err("disk full"));
  expect([readFileSync(path, "utf8"), readdirSync(folder).toSorted()]).toEqual(["before", ["prod.backup", "second-name"]]);
});
