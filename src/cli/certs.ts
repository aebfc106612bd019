/**
 * `lattice certs`: the authorities of a cell and the certificate of every agent, with their expiry dates.
 *
 * Exit code 0: all are valid, 1: one has expired or was revoked, 2: they could not be read.
 */
import { err, ok, type Result } from "#base";
import { ACCESS_LABEL } from "#http";
import { secrets, type KubeObject } from "#kube";
import type { KubeClient } from "#kube-client";
import { CELL_AUTHORITY_SECRET, OPERATOR_NAMESPACE } from "#operator";
import { agentRow, authorityRows, type CertificateRow } from "./certs/certificate-rows.ts";
import type { ClusterFlags } from "./cluster.ts";
import { reportFailure, type CommandIo, type ExitCode } from "./io.ts";
import { withCluster } from "./live-world.ts";
import { coloured, type Colour, type StyledText } from "./styled-text.ts";
import { formatTable } from "./terminal/table.ts";

export type CertsFlags = ClusterFlags & { readonly output: "text" | "json" };

export async function printCerts(io: CommandIo, flags: CertsFlags): Promise<ExitCode> {
  const now = io.clock.now();
  const rows = await withCluster(io, flags, (client) => readRows(client, now, io.signal));
  if (!rows.ok) return reportFailure(io, rows.error);
  if (flags.output === "json") io.stdout(`${JSON.stringify({ items: rows.value.map(jsonOf) }, null, 2)}\n`);
  else io.print(tableOf(rows.value, io.terminal?.columns()));
  return rows.value.some(({ state }) => state === "expired" || state === "revoked") ? 1 : 0;
}

async function readRows(client: KubeClient, now: number, signal: AbortSignal): Promise<Result<readonly CertificateRow[], string>> {
  const namespace = OPERATOR_NAMESPACE;
  const authority = await client.get<KubeObject>(secrets, { namespace, name: CELL_AUTHORITY_SECRET }, { signal });
  if (!authority.ok) {
    if (authority.error.kind !== "not-found") return err(authority.error.message);
    return err(
      `the cluster is no cell: Secret ${namespace}/${CELL_AUTHORITY_SECRET} does not exist; a LatticeCluster with spec.endpoints makes it one`,
    );
  }
  const authorities = authorityRows(authority.value, now);
  if (!authorities.ok) return authorities;
  const records = await client.list<KubeObject>(secrets, { namespace, labelSelector: `${ACCESS_LABEL}=true` }, { signal });
  if (!records.ok) return err(records.error.message);
  const agents: CertificateRow[] = [];
  for (const record of records.value.items) {
    const row = agentRow(record, now);
    if (!row.ok) return row;
    agents.push(row.value);
  }
  return ok([...authorities.value, ...agents.toSorted((a, b) => (a.name < b.name ? -1 : 1))]);
}

const COLOURS: Readonly<Record<CertificateRow["state"], Colour | undefined>> = {
  valid: "green",
  expiring: "yellow",
  expired: "red",
  revoked: "red",
  none: undefined,
};

function tableOf(rows: readonly CertificateRow[], columns: number | undefined): StyledText {
  const body = rows.map(({ kind, name, role = "", state, notAfter, serial = "-" }) => [
    role === "" ? kind : `${role} ${kind}`,
    name,
    coloured(state, COLOURS[state]),
    notAfter === undefined ? "-" : timeText(notAfter),
    serial,
  ]);
  return formatTable([["KIND", "NAME", "STATE", "EXPIRES", "SERIAL"], ...body], { columns });
}

function jsonOf({ notAfter, ...row }: CertificateRow) {
  return { ...row, ...(notAfter === undefined ? {} : { notAfter: timeText(notAfter) }) };
}

function timeText(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, -5)}Z`;
}
