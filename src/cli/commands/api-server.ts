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
        effect: "the API server alone; keep its state",
      },
      {
        command: "lattice api-server --no-controllers --crds config/crd -- go test ./...",
        effect: "run tests against a server that stops with them; KUBECONFIG and USE_EXISTING_CLUSTER are set",
      },
    ],
  })
    .argument("[command...]", "after --: run this command, then stop with its exit code")
    .option("--crds <path...>", "files or folders with CustomResourceDefinitions to install at the start")
    .option("--bind <address>", "the address to listen on; other machines can reach any address but loopback", "127.0.0.1")
    .option("--port <number>", "the port to listen on; 0: the port that --data-dir keeps, or any free port", "0")
    .option("--token-file <file>", 'users, in the format of kube-apiserver: token,user,uid,"groups"; without it there is one administrator')
    .option(
      "--data-dir <folder>",
      "store all objects there, and the keys and tokens that kubeconfigs need; without it they are lost when the process ends",
    )
    .option("--repair", "start with the intact part of a damaged --data-dir; damaged files are kept under other names")
    .option("--kubeconfig-out <file>", "write a kubeconfig for kubectl, readable by you only")
    .option("--http", "plain HTTP on loopback instead of TLS")
    .option("--no-controllers", "the API server alone, as in envtest: no controller runs")
    .option(
      "--pod-limit <number>",
      "the maximum number of pods that the controllers create; one owner gets at most as many as are left",
      "5000",
    )
    .option("--allow-reset", "let administrators restore the initial state with POST /lattice/reset")
    .action(async (command: string[], flags: ApiServerFlags) =>
      done(await (await import("../api-server.ts")).serveApi(io, { ...flags, command })),
    );
};
