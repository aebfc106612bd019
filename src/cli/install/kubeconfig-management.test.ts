/** What the file of a kubeconfig says about the management cluster: absent, there, or deleted by an earlier run. */
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { expectOk, systemClock } from "#base";
import { startEmbeddedCluster, type EmbeddedCluster } from "#embedded-cluster";
import { loadKubeconfig } from "#kube-client";
import { cliIo } from "../../../test/builders/cli-io.ts";
import { fileTree } from "../../../test/builders/file-tree.ts";
import { markClusterDeleted } from "./deleted-clusters.ts";
import { KubeconfigManagement } from "./kubeconfig-management.ts";

let cluster: EmbeddedCluster;
let text: string;
beforeAll(async () => {
  cluster = await startEmbeddedCluster();
  text = await cluster.kubeconfig({ http: true });
});
afterAll(() => cluster.close());

const never = new AbortController().signal;
const silent = () => text.replace(/127\.0\.0\.1:[0-9]+/g, "127.0.0.1:9");

async function machine() {
  const home = await fileTree({});
  const io = cliIo({ home, clock: systemClock });
  /** A run of a command; undefined: there is no file. */
  const open = (content: string | undefined, mayComeLater = false) => {
    const path = join(home, "prod.kubeconfig");
    if (content !== undefined) writeFileSync(path, content);
    const management = new KubeconfigManagement(io, { path, cluster: "prod", mayComeLater });
    onTestFinished(() => management.close());
    return management;
  };
  return { io, open };
}

test("a file that does not exist is an absent cluster only for an installation, which waits for it", async () => {
  const { open } = await machine();
  expect(await open(undefined, true).find(never)).toEqual({ ok: true, value: undefined });
  const find = await open(undefined).find(never);
  expect(find).toMatchObject({ ok: false, error: expect.stringContaining("prod.kubeconfig does not exist") as string });
});

test("a cluster that was deleted is gone as long as nothing answers", async () => {
  const { open } = await machine();
  expectOk(await open(silent()).markDeleted());
  expect(expectOk(await open(silent()).find(never))).toBeUndefined();
});

test("a cluster that was not deleted is there, also if nothing answers", async () => {
  const { open } = await machine();
  expect(expectOk(await open(silent()).find(never))).toBeDefined();
});

test("a cluster that still answers is not recorded as deleted", async () => {
  const { open } = await machine();
  const marked = await open(text).markDeleted();
  expect(marked).toMatchObject({ ok: false, error: expect.stringContaining("still answers") as string });
});

test("a server that refuses the user answers: its cluster is not gone, although one of its address and authority was deleted", async () => {
  const { io, open } = await machine();
  const refused = text.replace(/token: .*/, "token: wrong");
  expect(refused).toContain("token: wrong");
  const path = join(io.home, "refused.kubeconfig");
  writeFileSync(path, refused);
  const config = expectOk(await loadKubeconfig({ path, env: {}, home: io.home, clock: systemClock }));
  expectOk(markClusterDeleted(io, config));
  expect(expectOk(await open(refused).find(never))).toBeDefined();
});

test("a file that is corrected while the command runs is read again", async () => {
  const { io, open } = await machine();
  const management = open(silent());
  const wrong = expectOk(await management.find(never));
  expect(await wrong?.raw("/version", { signal: never })).toMatchObject({ ok: false });
  writeFileSync(join(io.home, "prod.kubeconfig"), text);
  const corrected = expectOk(await management.find(never));
  expect(await corrected?.raw("/version", { signal: never })).toMatchObject({ ok: true });
  expect(expectOk(await management.find(never))).toBe(corrected);
});

test("a file of a cluster that was deleted is read again when it is that of a new one", async () => {
  const { io, open } = await machine();
  expectOk(await open(silent()).markDeleted());
  const management = open(silent(), true);
  expect(expectOk(await management.find(never))).toBeUndefined();
  writeFileSync(join(io.home, "prod.kubeconfig"), text);
  expect(expectOk(await management.find(never))).toBeDefined();
});

test("a file that is removed while the command runs does not make the cluster an absent one", async () => {
  const { io, open } = await machine();
  const management = open(text, true);
  const found = expectOk(await management.find(never));
  rmSync(join(io.home, "prod.kubeconfig"));
  expect(expectOk(await management.find(never))).toBe(found);
});
