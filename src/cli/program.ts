/**
 * The program `lattice`: one file per command, put together here.
 *
 * Commands report how they ended through `done`; nothing below bin/ ends the process. What a command needs is imported when it
 * runs: `lattice version` must not wait for eight schemas to be built.
 */
import { Command, CommanderError, Option } from "commander";
import { describeThrown } from "#base";
import type { GraphFormat } from "#compile";
import type { ApiServerFlags } from "./api-server.ts";
import type { CompileFlags } from "./compile.ts";
import type { DiffFlags } from "./diff.ts";
import type { CliIo, ExitCode } from "./io.ts";
import type { DownFlags } from "./down.ts";
import type { OperatorFlags } from "./operator.ts";
import type { PatchFlags } from "./patch.ts";
import type { RbacFlags } from "./rbac.ts";
import type { UpFlags } from "./up.ts";
import { visibleIo } from "./visible-text.ts";
import type { WhyFlags } from "./why.ts";
import type { SourceFlags } from "./world-source.ts";

export async function runLattice(argv: readonly string[], io: CliIo): Promise<ExitCode> {
  let exitCode: ExitCode = 0;
  const program = createProgram(visibleIo(io), (code) => {
    exitCode = code;
  });
  try {
    await program.parseAsync(argv, { from: "user" });
    return exitCode;
  } catch (thrown) {
    if (thrown instanceof CommanderError) return thrown.exitCode === 0 ? 0 : 2; // help, or commander has said what is wrong
    io.stderr(`lattice: something that should not happen did: ${describeThrown(thrown)}\nPlease report it with the command you ran.\n`);
    return 1;
  }
}

function createProgram(io: CliIo, done: (code: ExitCode) => void): Command {
  const program = new Command("lattice")
    .description("Clusters that own themselves; services that talk only when both sides agree.")
    .exitOverride()
    .configureOutput({ writeOut: io.stdout, writeErr: io.stderr })
    .showSuggestionAfterError()
    .showHelpAfterError("(lattice --help lists the commands)");
  addLocalCommands(program, io, done);
  addServiceCommands(program, io, done);
  addClusterCommands(program, io, done);
  return program;
}

/** Commands that need no cluster. */
function addLocalCommands(program: Command, io: CliIo, done: (code: ExitCode) => void): void {
  program
    .command("up")
    .description("run a cluster with Lattice on this machine, until Ctrl-C (npm start)")
    .option("--data-dir <folder>", "where its state and kubeconfig are kept", ".lattice")
    .action(async (flags: UpFlags) => done(await (await import("./up.ts")).up(io, flags)));
  program
    .command("down")
    .description("stop a lattice up that runs on this machine")
    .option("--data-dir <folder>", "the folder it runs in", ".lattice")
    .option("--purge", "delete the folder too, if it is one that lattice up made")
    .action(async (flags: DownFlags) => done(await (await import("./down.ts")).down(io, flags)));
  program
    .command("validate")
    .description("check Lattice resources and Score files, without a cluster")
    .requiredOption("-f, --filename <path...>", "files or folders; - reads standard input")
    .addOption(new Option("-o, --output <form>").choices(["text", "json"]).default("text"))
    .action(async (flags: { filename: string[]; output: string }) => done(await (await import("./validate.ts")).validate(io, flags)));
  program
    .command("crds")
    .description("print the CustomResourceDefinitions of Lattice")
    .argument("[kind...]", "only these, by kind, plural or short name")
    .addOption(new Option("-o, --output <form>", "schema: JSON Schema, for editors").choices(["yaml", "json", "schema"]).default("yaml"))
    .action(async (names: string[], { output }: { output: string }) => done((await import("./crds.ts")).printCrds(io, names, output)));
  program
    .command("patch")
    .description("apply a patch to an object as an API server would, and say what happened to each list")
    .requiredOption("-f, --filename <file>", "the object; - reads standard input")
    .requiredOption("-p, --patch <file or text>", "the patch: a file, -, or YAML or JSON that begins with { or [")
    .addOption(new Option("--type <type>").choices(["strategic", "merge", "json"]).default("strategic"))
    .option("--schema <file>", "the CRD of a custom resource: its lists then merge by their list types")
    .addOption(new Option("-o, --output <form>").choices(["yaml", "json"]).default("yaml"))
    .action(async (flags: PatchFlags) => done(await (await import("./patch.ts")).patchFile(io, flags)));
  program
    .command("rbac")
    .description("print the ServiceAccount and the roles of the operator")
    .option("-n, --namespace <name>", "where the operator runs", "lattice-system")
    .option("--namespaces <a,b>", "Roles for these namespaces only, for an operator with the same flag; without it, for the whole cluster")
    .action(async (flags: RbacFlags) => done((await import("./rbac.ts")).printRbac(io, flags)));
  program
    .command("version")
    .description("print the version of Lattice")
    .action(async () => done((await import("./version.ts")).printVersion(io)));
}

/** Commands about services, from files or from a cluster. */
function addServiceCommands(program: Command, io: CliIo, done: (code: ExitCode) => void): void {
  withSecrets(withSettings(program.command("compile")))
    .option("--placeholder-secrets", "mark secrets that nobody gave instead of failing")
    .description("compile services, Score files too, into every object they need, without a cluster")
    .requiredOption("-f, --filename <path...>", "files or folders; - reads standard input")
    .addOption(new Option("-o, --output <form>", "dir: one file per object").choices(["yaml", "json", "dir"]).default("yaml"))
    .option("--out <folder>", "where -o dir writes")
    .option("--force", "write into a folder that is not empty")
    .option("--workloads-only", "without what namespaces themselves have: Namespace, default deny, waypoint")
    .action(async (flags: CompileFlags) => done(await (await import("./compile.ts")).compile(io, flags)));
  withCluster(withSecrets(withSettings(program.command("diff"))))
    .description("what files would change: objects, pods that roll, flows; exit code 0: nothing, 1: something, 2: error")
    .requiredOption("-f, --filename <path...>", "files or folders; - reads standard input")
    .option("--against <path...>", "other files or folders, or what lattice compile printed before; without it, a cluster")
    .addOption(new Option("-o, --output <form>").choices(["text", "json"]).default("text"))
    .action(async (flags: DiffFlags) => done(await (await import("./diff.ts")).diff(io, flags)));
  withCluster(withSettings(program.command("why")))
    .description("whether one service reaches another, and what decides it; exit code 0: open, 1: closed, 2: error")
    .argument("[caller and callee...]", "as in: frontend api, or shop/frontend shop/api:8080")
    .option("-f, --filename <path...>", "files or folders; without them, a cluster")
    .option("--method <name>", "only requests with this method")
    .option("--path <path>", "only requests for this path")
    .option("--assert <file>", "check what must be open and what closed; exit code 0: all hold, 1: some do not")
    .addOption(new Option("-o, --output <form>").choices(["text", "json"]).default("text"))
    .action(async (names: string[], flags: WhyFlags) => done(await (await import("./why.ts")).explainReach(io, names, flags)));
  withCluster(withSettings(program.command("graph")))
    .description("print who may talk to whom, and what stays closed")
    .option("-f, --filename <path...>", "files or folders; without them, a cluster")
    .addOption(new Option("-o, --output <form>", "dot: for Graphviz").choices(["text", "dot", "json"]).default("text"))
    .action(async (flags: SourceFlags & { output: GraphFormat }) => done(await (await import("./graph.ts")).printGraph(io, flags)));
}

/** What services are compiled for: the same in every command that does it. */
function withSettings(command: Command): Command {
  const namespace = "for services that name neither a namespace nor an environment (default: default)";
  return withDomains(command.option("-n, --namespace <name>", namespace));
}

/** What the cluster is like that services are compiled for. */
function withDomains(command: Command): Command {
  return command
    .option("--cluster-domain <domain>", "DNS domain of the cluster (default: cluster.local)")
    .option("--trust-domain <domain>", "of the mesh's identities, where an environment does not say (default: cluster.local)")
    .option("--ingress-domain <domain>", "below which routes without a host get one")
    .option("--gateway <namespace/name>", "that routes come through (default: istio-ingress/gateway)")
    .option("--monitoring-namespace <name>", "whose pods may scrape metrics (default: nobody, but istio-system for canaries)")
    .option("--cluster-name <name>", "for ${cluster.name}")
    .option("--cluster-provider <name>", "for ${cluster.provider}")
    .option("--cluster-region <name>", "for ${cluster.region}");
}

function withCluster(command: Command): Command {
  return command
    .option("--kubeconfig <file>", "which cluster; without it KUBECONFIG, ~/.kube/config, or the pod's own")
    .option("--context <name>", "which context of the kubeconfig");
}

function withSecrets(command: Command): Command {
  return command
    .option("--secrets <file>", "values of secrets, by path: postgres/main-db/password: ...")
    .option("--assume-shareable", "let volumes mount objects that are not among the files, as if labelled lattice.dev/shareable");
}

function addClusterCommands(program: Command, io: CliIo, done: (code: ExitCode) => void): void {
  program
    .command("api-server")
    .description("run a Kubernetes API server in this process, for tests and laptops")
    .option("--port <number>", "0 takes any", "0")
    .option(
      "--token-file <file>",
      'who may come in, as kube-apiserver has it: token,user,uid,"groups"; without it there is one administrator',
    )
    .option("--data-dir <folder>", "keep everything there; without it everything is gone with the process")
    .option("--kubeconfig-out <file>", "write a kubeconfig for kubectl, readable by you only")
    .option("--http", "plain HTTP on loopback instead of TLS")
    .option("--no-controllers", "the API server alone, as envtest has it: nothing happens by itself")
    .option("--pod-limit <number>", "the most pods that the controllers create; one owner gets no more than are left", "5000")
    .action(async (flags: ApiServerFlags) => done(await (await import("./api-server.ts")).serveApi(io, flags)));
  withDomains(withCluster(program.command("operator")))
    .description("run the operator against a cluster")
    .option("-n, --namespace <name>", "where the operator is at home: its Lease, its hash key, provisioners for all", "lattice-system")
    .option(
      "--namespaces <a,b>",
      "work in these namespaces only, with the roles of lattice rbac --namespaces; without it, in the whole cluster",
    )
    .option(
      "--allow-unprotected",
      "start pods on a cluster without the kinds of Cilium and Istio, where nothing enforces who may talk to whom",
    )
    .option("--health-address <host:port>", "health and metrics; port 0 takes any", "127.0.0.1:0")
    .option("--no-leader-elect", "lead without asking; only where no second operator runs")
    .addOption(new Option("--log-level <level>").choices(["debug", "info", "warn", "error"]).default("info"))
    .addOption(new Option("--log-format <format>").choices(["json", "text"]).default("text"))
    .action(async (flags: OperatorFlags) => done(await (await import("./operator.ts")).operate(io, flags)));
}
