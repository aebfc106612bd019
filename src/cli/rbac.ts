/** `lattice rbac`: what the operator must be allowed to do, computed from its controllers. */
import type { Command } from "commander";
import { formatYamlDocuments } from "#kube";
import { OPERATOR_NAMESPACE, operatorRbac } from "#operator";
import type { CliIo, ExitCode } from "./io.ts";

export function addRbacCommand(program: Command, io: CliIo, done: (code: ExitCode) => void): void {
  program
    .command("rbac")
    .description("print the ServiceAccount and the roles of the operator")
    .option("-n, --namespace <name>", "where the operator runs", OPERATOR_NAMESPACE)
    .action(({ namespace }: { namespace: string }) => {
      io.stdout(formatYamlDocuments(operatorRbac(namespace)));
      done(0);
    });
}
