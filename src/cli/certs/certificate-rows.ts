/** The certificates of a cell, from its Secrets. Keys in them are never decoded. Pure. */
import { andThen, bytesOfBase64, err, ok, textOfBytes, type Result } from "#base";
import { accessOfSecret, type ClusterAccess } from "#http";
import { describeObject, fieldAt, type KubeObject } from "#kube";
import { certificateSummary } from "#pki";

type ShownState = "valid" | "expiring" | "expired" | "revoked" | "none";

export type CertificateRow = {
  readonly kind: "authority" | "agent";
  /** Of an agent: its cluster. */
  readonly name: string;
  readonly state: ShownState;
  /** Of an authority: what it is for. */
  readonly role?: "current" | "successor" | "previous";
  /** Milliseconds since 1970. */
  readonly notAfter?: number;
  readonly serial?: string;
};

const DAY_MS = 86_400_000;
/** An authority has a successor two years before; an agent renews ten days before. */
const SOON_MS = { authority: 365 * DAY_MS, agent: 6 * DAY_MS } as const;

export function authorityRows(secret: KubeObject, now: number): Result<readonly CertificateRow[], string> {
  const name = secretText(secret, "cell") ?? "";
  const rows: CertificateRow[] = [];
  for (const role of ["current", "successor", "previous"] as const) {
    const pem = secretText(secret, `${role}.crt`);
    if (pem === undefined) continue;
    const summary = certificateSummary(pem);
    if (!summary.ok) return err(`${describeObject(secret)}, ${role}.crt: ${summary.error.message}`);
    const { serial } = summary.value;
    const notAfter = summary.value.notAfter.getTime();
    rows.push({ kind: "authority", name, role, state: stateOf("authority", notAfter, now), notAfter, serial });
  }
  return ok(rows);
}

export function agentRow(secret: KubeObject, now: number): Result<CertificateRow, string> {
  const access = accessOfSecret(secret);
  return access.ok ? ok(rowOfAccess(access.value, now)) : err(`${describeObject(secret)}: ${access.error}`);
}

/** The newest certificate: older ones of the same agent expire unused. */
function rowOfAccess({ cluster: name, certificates, revoked }: ClusterAccess, now: number): CertificateRow {
  const last = certificates.at(-1);
  if (last === undefined) return { kind: "agent", name, state: revoked ? "revoked" : "none" };
  const { notAfter, serial } = last;
  return { kind: "agent", name, state: revoked ? "revoked" : stateOf("agent", notAfter, now), notAfter, serial };
}

function stateOf(kind: CertificateRow["kind"], notAfter: number, now: number): ShownState {
  if (now >= notAfter) return "expired";
  return notAfter - now < SOON_MS[kind] ? "expiring" : "valid";
}

function secretText(secret: KubeObject, name: string): string | undefined {
  const value = fieldAt(secret, "data", name);
  const text = typeof value === "string" ? andThen(bytesOfBase64(value), textOfBytes) : undefined;
  return text?.ok === true ? text.value : undefined;
}
