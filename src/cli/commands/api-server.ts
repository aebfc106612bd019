/** Flags of `lattice api-server`. */
import type { ApiServerFlags } from "../api-server.ts";
import { addCommand, type RegisterCommand } from "./command.ts";

export const registerApiServer: RegisterCommand = (program, { io, done }) => {
  addCommand(program, "api-server", {
    group: "local",
    summary: "run an embedded Kubernetes API server",
    description: "run a Kubernetes API server in this process, for tests and laptops",
    examples: [
      { command: "lattice api-server --kubeconfig-out kubeconfig", effect: "start one for kubectl --kubeconfig kubeconfig" },
      {
        command: "lattice api-server --no-controllers --data-dir data --kubeconfig-out kubeconfig",
        effect: "the API alone, and keep its state",
      },
      {
        command: "lattice api-server --no-controllers --crds config/crd -- go test ./...",
        effect: "run tests against one that ends with them; KUBECONFIG and USE_EXISTING_CLUSTER are set",
      },
    ],
  })
    .argument("[command...]", "after --: run this, then stop with its exit code")
    .option("--crds <path...>", "files or folders with CustomResourceDefinitions to start with")
    .option("--bind <address>", "the address to listen on; others than loopback can be reached from other machines", "127.0.0.1")
    .option("--port <number>", "0 takes any", "0")
    .option("--token-file <file>", 'users, in the format of kube-apiserver: token,user,uid,"groups"; without it there is one administrator')
    .option("--data-dir <folder>", "keep all objects there; without it they end with the process")
    .option("--repair", "start with what is whole of a damaged --data-dir; the damaged files are kept under other names")
    .option("--kubeconfig-out <file>", "write a kubeconfig for kubectl, readable by you only")
    .option("--http", "plain HTTP on loopback instead of TLS")
    .option("--no-controllers", "the API server alone, as in envtest: no controller runs")
    .option("--pod-limit <number>", "the most pods that the controllers create; one owner gets no more than are left", "5000")
    .option("--allow-reset", "let administrators bring back the initial state with POST /lattice/reset")
    .action(async (command: string[], flags: ApiServerFlags) =>
      done(await (await import("../api-server.ts")).serveApi(io, { ...flags, command })),
    );
};
