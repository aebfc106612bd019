/**
 * Export and import of a namespace with a claim on it: only one process works on it, and its writes are fenced.
 *
 * An export that is refused before its directory is complete is rolled back, whichever run has begun it.
 */
import { ok } from "#base";
import { namespaces } from "#kube";
import { openSide, type ApiSide } from "./api-side.ts";
import { forgetClaim, withClaim, type ClaimOptions, type FencedClients } from "./claim.ts";
import type { MoveContext, SourceContext } from "./context.ts";
import { abortExport } from "./export-abort.ts";
import type { ExportFolder } from "./export-folder.ts";
import { runExport, type ExportReport } from "./export.ts";
import type { Moved } from "./failure.ts";
import type { ImportReceipt } from "../files/receipt.ts";
import { ensureNamespace, readHead } from "./journal.ts";
import { abortReceive, isClaimedFor } from "./receive-abort.ts";
import { runReceive, type ClaimPort, type SavedMove } from "./receive.ts";
import { rollBackExport } from "./roll-back-export.ts";

type OneSide = Omit<ClaimOptions, "source" | "target"> & Pick<MoveContext, "waitMs" | "report">;

export type ExportOptions = OneSide & {
  readonly source: ClaimOptions["source"];
  readonly folder: ExportFolder;
  readonly receipt?: ImportReceipt | undefined;
};

export async function exportNamespace(options: ExportOptions): Moved<ExportReport> {
  const claimed = { ...options, target: options.source };
  const exported = await withClaim(claimed, async (clients) => {
    const context = { ...sourceContext(options, clients), folder: options.folder, receipt: options.receipt };
    const before = await readHead(context);
    if (!before.ok) return before;
    const result = await runExport(context);
    return result.ok || result.error.kind !== "refused" ? result : rollBackExport(context, result.error, before.value);
  });
  if (exported.ok) await forgetClaim(options);
  return exported;
}

/** False: there was no unfinished export. */
export async function abortNamespaceExport(options: ExportOptions & { readonly notImported: boolean }): Moved<boolean> {
  const { folder, notImported } = options;
  const aborted = await withClaim({ ...options, target: options.source }, (clients) =>
    abortExport({ ...sourceContext(options, clients), folder, notImported }),
  );
  if (aborted.ok) await forgetClaim(options);
  return aborted;
}

function sourceContext(options: ExportOptions, { source, signal }: FencedClients): SourceContext {
  const { namespace, clock, random, waitMs, report } = options;
  const shared = { clock, random, signal };
  return { ...shared, namespace, waitMs, report, source: openSide({ ...shared, client: source, side: "source" }) };
}

export type ReceiveOptions = Omit<OneSide, "waitMs" | "namespace"> & {
  readonly target: ClaimOptions["target"];
  readonly saved: SavedMove;
  readonly claim: ClaimPort;
};

/** The Lease is at the target: files have none. */
export async function receiveSaved(options: ReceiveOptions): Moved<ImportReceipt> {
  const received = await withTargetClaim(options, runReceive);
  if (received.ok) await forgetClaim({ source: options.target, namespace: options.saved.namespace });
  return received;
}

/** `release`: called when nothing of the files is left at the target, and they are claimed for it. False: there was nothing to undo. */
export async function abortReceived(options: ReceiveOptions, release: () => Moved<void>): Moved<boolean> {
  const target = plainTarget(options);
  const place = await target.get(namespaces, { name: options.saved.namespace });
  if (!place.ok) return place;
  const isBegun = place.value === undefined ? await isClaimedFor({ target, claim: options.claim }) : ok(true);
  if (!isBegun.ok || !isBegun.value) return isBegun;
  const aborted = await withTargetClaim(options, (context) => abortReceive(context, release));
  if (aborted.ok) await forgetClaim({ source: options.target, namespace: options.saved.namespace });
  return aborted;
}

async function withTargetClaim<T>(options: ReceiveOptions, work: (context: Parameters<typeof runReceive>[0]) => Moved<T>): Moved<T> {
  const { target, saved, claim, report, clock, random } = options;
  const { namespace } = saved;
  const ensured = await ensureNamespace(plainTarget(options), namespace);
  if (!ensured.ok) return ensured;
  return withClaim({ ...options, namespace, source: target, target }, ({ target: client, signal }) => {
    const shared = { clock, random, signal };
    return work({ ...shared, namespace, report, saved, claim, target: openSide({ ...shared, client, side: "target" }) });
  });
}

function plainTarget({ target, clock, random, signal }: ReceiveOptions): ApiSide {
  return openSide({ client: target, side: "target", clock, random, signal });
}

/** The claim of an archive: it cannot be written into, so the owner it came from is checked instead. */
export function archiveClaim(): ClaimPort {
  let ended = false;
  return {
    read: () => Promise.resolve(ok(ended ? "ended" : "ours")),
    write: (_target, isEnd) => {
      ended = isEnd;
      return Promise.resolve(ok(undefined));
    },
  };
}
