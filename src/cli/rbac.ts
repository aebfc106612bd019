/** `lattice rbac`: the permissions of the operator, computed from its controllers. */
import { formatYamlDocuments } from "#kube";
import { operatorRbac } from "#operator";
import { reportFailure, type CliIo, type ExitCode } from "./io.ts";
import { parseNamespaces } from "./namespaces-flag.ts";

export type RbacFlags = { readonly namespace: string; readonly namespaces?: string; readonly output: "yaml" | "json" };

export function printRbac(io: CliIo, flags: RbacFlags): ExitCode {
  const namespaces = parseNamespaces(flags.namespaces);
  if (!namespaces.ok) return reportFailure(io, namespaces.error);
  const items = operatorRbac(flags.namespace, namespaces.value);
  io.stdout(
    flags.output === "json" ? `${JSON.stringify({ apiVersion: "v1", kind: "List", items }, null, 2)}\n` : formatYamlDocuments(items),
  );
  return 0;
}
