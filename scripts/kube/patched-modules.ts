/**
 * Go modules that are built from copies with small changes. `go build -overlay` refuses files of the module cache, so the copies are made in a
 * folder of the cache of this project, beside the go.mod that names them.
 *
 * An edit whose text is not found fails the build: a new version of a module must not lose a change silently.
 */
import { cp, chmod, mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { err, ok, type Result } from "#base";
import { runProgram } from "../process/run-program.ts";
import { goEnvironment, moduleFolder } from "./go.ts";
import { FLAGGER_VERSION, type Binary } from "./versions.ts";

type Edit = { readonly file: string; readonly find: string; readonly replace: string };

type PatchedCopy = {
  /** As `go mod download` takes it. */
  readonly module: string;
  /** The folder of the copy, which go.mod names in a `replace`. */
  readonly into: string;
  readonly edits: readonly Edit[];
};

const LOOPBACK = "127.0.0.1";
const MUX = "infrastructure/inmemory/pkg/server/mux.go";
const IN_MEMORY = "infrastructure/docker/internal/controllers/backends/inmemory";

const FLAGGER_SERVER = "pkg/server/server.go";

const COPIES: Readonly<Partial<Record<Binary["module"], readonly PatchedCopy[]>>> = {
  capi: [
    {
      // the managers have no flag for the host of their webhooks, and would listen on all interfaces
      module: "sigs.k8s.io/controller-runtime@v0.24.1",
      into: "controller-runtime",
      edits: [
        {
          file: "pkg/webhook/server.go",
          find: "\tif o.Port <= 0 {",
          replace: `\tif o.Host == "" {\n\t\to.Host = "${LOOPBACK}"\n\t}\n\tif o.Port <= 0 {`,
        },
      ],
    },
    {
      // fixed ports on all interfaces: a second provider on the machine would end; a write into a nil map; and machines of a cluster that was moved
      // here are reported as not provisioned when they are reconciled before their cluster
      module: "sigs.k8s.io/cluster-api/test@v1.14.0",
      into: "capi-test",
      edits: [
        { file: MUX, find: '\t"net/http"', replace: '\t"net/http"\n\t"os"\n\t"strconv"' },
        { file: MUX, find: 'fmt.Sprintf(":%d", options.DebugPort)', replace: `fmt.Sprintf("${LOOPBACK}:%d", options.DebugPort)` },
        { file: MUX, find: 'fmt.Sprintf(":%d", wcl.Port())', replace: "wcl.HostPort()" },
        {
          file: MUX,
          find: "\toptions.ApplyOptions(opts)",
          replace: [
            "\toptions.ApplyOptions(opts)",
            '\tif v, err := strconv.Atoi(os.Getenv("INMEMORY_MIN_PORT")); err == nil {',
            "\t\toptions.MinPort, options.MaxPort, options.DebugPort = int32(v), int32(v+999), int32(v-1)",
            "\t}",
          ].join("\n"),
        },
        {
          file: `${IN_MEMORY}/inmemorycluster_backend.go`,
          find: "\tinMemoryCluster.Annotations[infrav1.ListenerAnnotationName] = listenerName",
          replace: [
            "\tif inMemoryCluster.Annotations == nil {",
            "\t\tinMemoryCluster.Annotations = map[string]string{}",
            "\t}",
            "\tinMemoryCluster.Annotations[infrav1.ListenerAnnotationName] = listenerName",
          ].join("\n"),
        },
        {
          file: `${IN_MEMORY}/inmemorymachine_backend.go`,
          find: "\t// Create VM; a Cloud VM can be created as soon as the Infra Machine is created",
          replace: [
            "\t// Create VM; a Cloud VM can be created as soon as the Infra Machine is created",
            "\tr.InMemoryManager.AddResourceGroup(resourceGroup)",
          ].join("\n"),
        },
      ],
    },
  ],
  flagger: [
    {
      // it has no flag for the host of its metrics, and would listen on all interfaces
      module: `github.com/fluxcd/flagger@v${FLAGGER_VERSION}`,
      into: "flagger",
      edits: [{ file: FLAGGER_SERVER, find: 'Addr:         ":" + port', replace: `Addr:         "${LOOPBACK}:" + port` }],
    },
  ],
};

/** The folder to build a module in: that of the repository, or a copy beside its changed modules. The caller holds the lock of the cache. */
export async function buildFolder(
  module: Binary["module"],
  cache: string,
  environment: NodeJS.ProcessEnv,
): Promise<Result<string, string>> {
  const copies = COPIES[module];
  if (copies === undefined) return ok(moduleFolder(module));
  const folder = join(cache, `.modules-${module}`);
  await rm(folder, { recursive: true, force: true });
  await cp(moduleFolder(module), folder, { recursive: true });
  for (const copy of copies) {
    const made = await copyModule(copy, folder, environment);
    if (!made.ok) return made;
  }
  return ok(folder);
}

async function copyModule(
  { module, into, edits }: PatchedCopy,
  folder: string,
  environment: NodeJS.ProcessEnv,
): Promise<Result<void, string>> {
  const ran = await runProgram("go", ["mod", "download", "-json", module], { cwd: "/", env: goEnvironment(environment) });
  const source = /"Dir": "([^"]+)"/.exec(ran.stdout)?.[1];
  if (ran.code !== 0 || source === undefined) return err(`${module} cannot be fetched: ${ran.stderr.trim()}`);
  const target = join(folder, into);
  await mkdir(target);
  await cp(source, target, { recursive: true });
  await makeWritable(target);
  for (const edit of edits) {
    const file = join(target, edit.file);
    const text = await readFile(file, "utf8");
    if (!text.includes(edit.find)) return err(`${module}: ${edit.file} no longer contains ${JSON.stringify(edit.find)}`);
    await writeFile(file, text.replaceAll(edit.find, edit.replace));
  }
  return ok(undefined);
}

/** Files of the module cache are read-only. */
async function makeWritable(folder: string): Promise<void> {
  await chmod(folder, 0o755);
  for (const entry of await readdir(folder, { withFileTypes: true, recursive: true })) {
    if (entry.isDirectory() || entry.isFile()) await chmod(join(entry.parentPath, entry.name), entry.isDirectory() ? 0o755 : 0o644);
  }
}
