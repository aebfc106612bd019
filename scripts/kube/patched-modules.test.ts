/** With a `go` that is a shell script and a module folder of this test: the copy is writable and changed, and a lost edit is an error. */
import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { expectOk } from "#base";
import { moduleFolder } from "./go.ts";
import { buildFolder } from "./patched-modules.ts";

let root = "";
beforeEach(async () => void (root = await mkdtemp(join(tmpdir(), "lattice-patched-"))));
afterEach(() => rm(root, { recursive: true, force: true }));

const FILES: Readonly<Record<string, string>> = {
  "controller-runtime/pkg/webhook/server.go": "func setDefaults() {\n\tif o.Port <= 0 {\n",
  "test/infrastructure/inmemory/pkg/server/mux.go": [
    'import (\n\t"net/http"\n)',
    'fmt.Sprintf(":%d", options.DebugPort) fmt.Sprintf(":%d", wcl.Port()) fmt.Sprintf(":%d", wcl.Port())',
    "\toptions.ApplyOptions(opts)",
  ].join("\n"),
  "test/infrastructure/docker/internal/controllers/backends/inmemory/inmemorycluster_backend.go":
    "\tinMemoryCluster.Annotations[infrav1.ListenerAnnotationName] = listenerName\n",
  "test/infrastructure/docker/internal/controllers/backends/inmemory/inmemorymachine_backend.go":
    "\t// Create VM; a Cloud VM can be created as soon as the Infra Machine is created\n",
  "flagger/pkg/server/server.go": '\tsrv := &http.Server{\n\t\tAddr:         ":" + port,\n',
};

/** A module cache with read-only files, and a `go` that prints its folders. */
async function fakeGo(files: Readonly<Record<string, string>>): Promise<NodeJS.ProcessEnv> {
  const [cache, bin] = [join(root, "mod"), join(root, "bin")];
  await mkdir(bin);
  for (const [path, text] of Object.entries(files)) {
    const file = join(cache, path);
    await mkdir(join(file, ".."), { recursive: true });
    await writeFile(file, text);
    await chmod(file, 0o444);
  }
  const script = `#!/bin/sh\ncase "$4" in *controller-runtime*) d=controller-runtime;; *flagger*) d=flagger;; *) d=test;; esac\necho "  \\"Dir\\": \\"${cache}/$d\\""\n`;
  await writeFile(join(bin, "go"), script, { mode: 0o755 });
  return { PATH: `${bin}:${process.env["PATH"]}` };
}

test("a module without changes is built in its own folder", async () => {
  expect(expectOk(await buildFolder("kube", root, {}))).toBe(moduleFolder("kube"));
});

test("the managers are built beside copies whose webhooks and API servers listen on loopback, on ports from the environment", async () => {
  const environment = await fakeGo(FILES);
  const folder = expectOk(await buildFolder("capi", root, environment));
  const read = (file: string) => readFile(join(folder, file), "utf8");
  expect(await read("go.mod")).toContain("replace sigs.k8s.io/controller-runtime => ./controller-runtime");
  expect(await read("controller-runtime/pkg/webhook/server.go")).toContain('o.Host = "127.0.0.1"');
  const mux = await read("capi-test/infrastructure/inmemory/pkg/server/mux.go");
  expect(mux).not.toContain('":%d"');
  expect(mux).toContain('os.Getenv("INMEMORY_MIN_PORT")');
  const machines = await read("capi-test/infrastructure/docker/internal/controllers/backends/inmemory/inmemorymachine_backend.go");
  expect(machines).toContain("AddResourceGroup(resourceGroup)");
  expect(expectOk(await buildFolder("capi", root, environment))).toBe(folder); // again, over the first
});

test("Flagger is built beside a copy that listens on loopback", async () => {
  const folder = expectOk(await buildFolder("flagger", root, await fakeGo(FILES)));
  expect(await readFile(join(folder, "go.mod"), "utf8")).toContain("replace github.com/fluxcd/flagger => ./flagger");
  expect(await readFile(join(folder, "flagger/pkg/server/server.go"), "utf8")).toContain('"127.0.0.1:" + port');
});

test("a module that no longer contains the text of an edit is an error that names the file", async () => {
  const environment = await fakeGo({ ...FILES, "controller-runtime/pkg/webhook/server.go": "package webhook\n" });
  expect(await buildFolder("capi", root, environment)).toMatchObject({
    ok: false,
    error: expect.stringContaining("pkg/webhook/server.go no longer contains") as string,
  });
});
