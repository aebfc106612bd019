/** A folder with services, and commands that run in it. Only for tests. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll } from "vitest";
import { runCli } from "../../test/builders/cli-io.ts";
import { addFiles } from "../../test/builders/file-tree.ts";
import { serviceYaml } from "../../test/builders/world.ts";

const SCORE =
  "apiVersion: score.dev/v1b1\nmetadata: {name: web}\ncontainers: {main: {image: 'nginx:1', files: {/etc/a: {source: texts/a.txt}}}}\nservice: {ports: {'on': {port: 80}}}\n";
const DATABASE = serviceYaml("db-user", { spec: "  resources: {db: {type: postgres}}\n" }).replace(
  '{image: "db-user:1"}',
  '{image: "x", variables: {P: "${resources.db.password}"}}',
);

const FILES = {
  "shop/a.yaml": serviceYaml("a", { calls: ["b"] }),
  "shop/b.yaml": serviceYaml("b", { calledBy: ["a"] }),
  "next/a.yaml": serviceYaml("a", { calls: ["b"] }).replace("a:1", "a:2"),
  "next/b.yaml": serviceYaml("b"),
  "score/web.yaml": SCORE,
  "score/texts/a.txt": "name=${metadata.name}",
  "secret/db.yaml": DATABASE,
  "secrets.yaml": 'postgres/db/password: "hunter2"\n',
  "bad/broken.json": "{",
  "bad/wrong.yaml": serviceYaml("wrong").replace("image", "imgae"),
  "bad/nonsense.yaml": serviceYaml("nonsense", { spec: "  resources:\n    x: {type: nonsense}\n" }),
  "bad/bad-score.yaml": SCORE.replace("containers", "containres"),
};

/** The folder exists during the tests of a file. */
export function servicesFolder() {
  let cwd = "";
  beforeAll(async () => {
    cwd = mkdtempSync(join(tmpdir(), "lattice-services-"));
    await addFiles(cwd, FILES);
  });
  afterAll(() => rmSync(cwd, { recursive: true }));
  return {
    pathOf: (file: string) => join(cwd, file),
    run: (...argv: string[]) => runCli(argv, { cwd }),
    /** `input`: for `-f -` and the like. */
    runWith: (input: string, ...argv: string[]) => runCli(argv, { cwd, input }),
  };
}
