import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { expectOk, type ProcessTable } from "#base";
import { runCli } from "../../test/builders/cli-io.ts";
import { shortPath } from "./short-path.ts";
import { prepareFolder, purgeFolder, removeRecord, runningUp, upFolder, writeRecord } from "./up-folder.ts";

const root = mkdtempSync(join(tmpdir(), "lattice-folder-"));
afterAll(() => rmSync(root, { recursive: true, force: true }));
let made = 0;
const fresh = () => upFolder(join(root, `f${(made += 1)}`));
const processes = (alive: Readonly<Record<number, string>>): ProcessTable => ({ pid: 77, identify: (pid) => alive[pid] });

describe("the folder of a local cluster", () => {
  test("is created, reused, and refused when it contains other files", async () => {
    const folder = fresh();
    expect(await prepareFolder(folder)).toEqual({ ok: true, value: undefined });
    mkdirSync(folder.data);
    expect(await prepareFolder(folder)).toEqual({ ok: true, value: undefined });
    for (const name of ["a", "b", "c", "d"]) writeFileSync(join(folder.path, name), "");
    expect(await prepareFolder(folder)).toEqual({
      ok: false,
      error: `${folder.path} contains other files (a, b, c and 1 more); choose an empty folder, or one that does not exist`,
    });
    const file = join(root, "file");
    writeFileSync(file, "");
    expect(await prepareFolder(upFolder(file))).toMatchObject({
      ok: false,
      error: expect.stringContaining("is not a folder; choose a folder") as string,
    });
  });

  test("that cannot be created ends lattice up with one error and exit code 2", async () => {
    for (const path of ["/proc/lattice", join(root, "file")]) {
      const { code, stdout, stderr } = await runCli(["up", "--data-dir", path]);
      expect([code, stdout]).toEqual([2, ""]);
      expect(stderr).toMatch(/^lattice: \S+ (cannot be created: E\w+: .*|is not a folder); choose [^\n]+\n$/);
    }
  });

  test("is refused when every user can write to it", async () => {
    const folder = fresh();
    mkdirSync(folder.path);
    chmodSync(folder.path, 0o777);
    expect(await prepareFolder(folder)).toEqual({
      ok: false,
      error: `every user can write to ${folder.path}; run chmod o-w ${folder.path} first`,
    });
  });

  test("is deleted only when it has the marker file and no other files", async () => {
    const folder = fresh();
    expect(await purgeFolder(folder)).toEqual({ ok: true, value: "absent" });
    mkdirSync(folder.path);
    expect(await purgeFolder(folder)).toMatchObject({ ok: false, error: expect.stringContaining("has no marker file") as string });
    expectOk(await prepareFolder(folder));
    mkdirSync(join(folder.data, "deep"), { recursive: true });
    writeFileSync(join(folder.path, "thesis.tex"), "");
    expect(await purgeFolder(folder)).toMatchObject({
      ok: false,
      error: expect.stringContaining("(thesis.tex), and is not deleted") as string,
    });
    rmSync(join(folder.path, "thesis.tex"));
    const link = join(root, "link");
    symlinkSync(folder.path, link);
    expect(await purgeFolder(upFolder(link))).toMatchObject({ ok: false, error: expect.stringContaining("is not a folder") as string });
    expect(await purgeFolder(folder)).toEqual({ ok: true, value: "deleted" });
    expect(readdirSync(root)).not.toContain(folder.path.split("/").at(-1));
  });

  test("is shown as a short path", () => {
    expect([shortPath("/a/b", "/a/b/.lattice"), shortPath("/a/b", "/a/b"), shortPath("/a/b", "/c/d")]).toEqual([".lattice", ".", "/c/d"]);
  });
});

describe("whether a cluster runs", () => {
  const serving = async (use: (url: string) => Promise<void>) => {
    const server = createServer((_request, response) => void response.end("ok")).listen(0, "127.0.0.1");
    await new Promise((listening) => server.once("listening", listening));
    await use(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
    await new Promise((closed) => server.close(closed));
  };

  test("it does when the process exists and its server responds", async () => {
    const folder = fresh();
    expectOk(await prepareFolder(folder));
    expect(await runningUp(folder, processes({}))).toBeUndefined();
    await serving(async (url) => {
      expectOk(await writeRecord(folder, url, processes({ 77: "me" })));
      expect(await runningUp(folder, processes({ 77: "me" }))).toEqual({ pid: 77, process: "me", health: url });
      expect(await runningUp(folder, processes({}))).toBeUndefined();
      expect(await runningUp(folder, processes({ 77: "another, later" }))).toBeUndefined();
    });
    expect(await runningUp(folder, processes({ 77: "me" }))).toBeUndefined();
    await removeRecord(folder);
    expect(readdirSync(folder.path)).toEqual(["lattice-local-cluster"]);
  });

  test.each([
    { name: "no JSON", text: "garbage" },
    { name: "the pid of all processes", text: `{"pid":-1,"process":"me","health":"http://127.0.0.1:1"}` },
    { name: "the pid of init", text: `{"pid":1,"process":"me","health":"http://127.0.0.1:1"}` },
    { name: "a server elsewhere", text: `{"pid":77,"process":"me","health":"http://169.254.169.254:80"}` },
  ])("a record with $name is ignored", async ({ text }) => {
    const folder = fresh();
    expectOk(await prepareFolder(folder));
    writeFileSync(join(folder.path, "up.json"), text);
    expect(await runningUp(folder, processes({ 77: "me", 1: "me" }))).toBeUndefined();
  });
});
