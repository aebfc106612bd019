/** Flags of `lattice rbac`. */
import { Option } from "commander";
import type { RbacFlags } from "../rbac.ts";
import { addCommand, type RegisterCommand } from "./command.ts";

export const registerRbac: RegisterCommand = (program, { io, done }) => {
  addCommand(program, "rbac", {
    group: "operator",
    summary: "print the operator's ServiceAccount and roles",
    examples: [
      { command: "lattice rbac | kubectl apply --server-side -f -", effect: "let the operator work in the whole cluster" },
      { command: "lattice rbac --namespaces shop,payments", effect: "Roles for two namespaces only" },
    ],
  })
    .option("-n, --namespace <name>", "where the operator runs", "lattice-system")
    .option("--namespaces <a,b>", "Roles for these namespaces only, for an operator with the same flag; without it, for the whole cluster")
    .addOption(new Option("-o, --output <form>").choices(["yaml", "json"]).default("yaml"))
    .action(async (flags: RbacFlags) => done((await import("../rbac.ts")).printRbac(io, flags)));
};
