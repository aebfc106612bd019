/** `lattice rbac`: what the operator must be allowed to do, computed from its controllers. */
import { formatYamlDocuments } from "#kube";
import { operatorRbac } from "#operator";
import type { CliIo, ExitCode } from "./io.ts";

export function printRbac(io: CliIo, namespace: string): ExitCode {
  io.stdout(formatYamlDocuments(operatorRbac(namespace)));
  return 0;
}
