import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { ok, type Result } from "#base";
import { fleetFolder } from "./layout.ts";
import { writeMarker } from "./marker.ts";
import { purgeFolder } from "./purge.ts";

const root = mkdtempSync(join(tmpdir(), "lattice-purge-"));
afterAll(() => rmSync(root, { recursive: true, force: true }));
let made = 0;
const errorOf = (result: Result<unknown, string>) => (result.ok ? "no error" : result.error);
/** With a cluster that has every file that Lattice writes. */
function used() {
  const folder = fleetFolder(join(root, `f${(made += 1)}`));
  const cluster = join(folder.clusters, "mgmt");
  mkdirSync(join(folder.clusters, ".removed-child-0123abcd", "data"), { recursive: true });
  for (const name of ["data", "logs", "machines/node-1/pods"]) mkdirSync(join(cluster, name), { recursive: true });
  for (const name of ["cluster.json", "kubeconfig", "data/log", "logs/api-server.log", "machines/node-1/pods/token"])
    writeFileSync(join(cluster, name), "");
  for (const file of [folder.record, folder.state, folder.kubeconfig, join(folder.path, "up.lock")]) writeFileSync(file, "");
  writeMarker(folder.path, { content: "services", management: "mgmt" });
  return folder;
}

test("purge deletes what Lattice wrote, and the folder", async () => {
  const folder = used();
  expect(await purgeFolder(folder)).toEqual(ok("deleted"));
  expect(existsSync(folder.path)).toBe(false);
  expect(await purgeFolder(folder)).toEqual(ok("absent"));
});

test.each(["thesis.txt", "clusters/Thesis", "clusters/mgmt/thesis.txt"])("purge deletes nothing when there is a file %s", async (name) => {
  const folder = used();
  writeFileSync(join(folder.path, name), "mine");
  expect(errorOf(await purgeFolder(folder))).toBe(`${folder.path} contains other files (${name}), and is not deleted`);
  expect(existsSync(join(folder.clusters, "mgmt/data/log"))).toBe(true);
});

test("purge never follows a link", async () => {
  const elsewhere = join(root, "elsewhere");
  mkdirSync(elsewhere);
  writeFileSync(join(elsewhere, "thesis.txt"), "mine");
  const folder = used();
  symlinkSync(elsewhere, join(folder.clusters, "mgmt/machines/link"));
  rmSync(join(folder.clusters, "mgmt/logs"), { recursive: true });
  symlinkSync(elsewhere, join(folder.clusters, "mgmt/logs"));
  const link = join(root, "link");
  symlinkSync(folder.path, link);
  expect(errorOf(await purgeFolder(fleetFolder(link)))).toBe(`${link} is not a folder, and is not deleted`);
  expect(await purgeFolder(folder)).toEqual(ok("deleted"));
  expect(readFileSync(join(elsewhere, "thesis.txt"), "utf8")).toBe("mine");
});

test("purge refuses a folder without a marker, and one that is nested too deeply", async () => {
  const unmarked = used();
  rmSync(join(unmarked.path, "lattice-local-cluster"));
  expect(errorOf(await purgeFolder(unmarked))).toContain("has no marker file of a local cluster of Lattice, and is not deleted");
  const deep = used();
  mkdirSync(join(deep.clusters, "mgmt/machines", ...Array.from({ length: 70 }, () => "d")), { recursive: true });
  expect(errorOf(await purgeFolder(deep))).toMatch(/nested more than 64 folders deep; delete it yourself$/);
  expect(existsSync(join(deep.path, "lattice-local-cluster"))).toBe(true);
});
