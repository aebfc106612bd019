/** Export, import and confirmation between two embedded API servers and a directory in memory. */
import { andThen, expectOk, seededRandom, systemClock, type Result } from "#base";
import type { EmbeddedCluster } from "#embedded-cluster";
import { parseReceipt, receiptText, type ImportReceipt } from "../files/receipt.ts";
import { openSide } from "./api-side.ts";
import type { MoveProgress } from "./context.ts";
import { runExport, type ExportContext, type ExportReport } from "./export.ts";
import type { MoveFailure, Moved } from "./failure.ts";
import { folderClaim, readExport } from "./import-folder.ts";
import type { MemoryFolder } from "./memory-folder.test-support.ts";
import { MortalProcess } from "../../../test/builders/mortal-process.ts";
import { runReceive, type ReceiveContext } from "./receive.ts";

const shared = (seed: number) => ({ clock: systemClock, random: seededRandom(seed), signal: new AbortController().signal });
const alive = () => new MortalProcess(undefined);

export type FolderRun = { readonly process?: MortalProcess; readonly seed?: number; readonly report?: (progress: MoveProgress) => void };

export function exportContext(
  source: EmbeddedCluster,
  directory: MemoryFolder,
  { process = alive(), seed = 1, report = () => {} }: FolderRun = {},
): ExportContext {
  const common = shared(seed);
  return {
    ...common,
    namespace: "c1",
    waitMs: 1_000,
    report,
    source: openSide({ ...common, client: process.client(source.client), side: "source" }),
    folder: directory.folder(process),
  };
}

export function receiveContext(
  target: EmbeddedCluster,
  directory: MemoryFolder,
  { process = alive(), seed = 1, report = () => {} }: FolderRun = {},
): Result<ReceiveContext, readonly string[]> {
  const common = shared(seed);
  const folder = directory.folder(process);
  return andThen(readExport(folder, "2026-01-01T00:00:00Z"), ({ saved }) => ({
    ok: true as const,
    value: {
      ...common,
      namespace: "c1",
      report,
      saved,
      claim: folderClaim(folder, saved.id),
      target: openSide({ ...common, client: process.client(target.client), side: "target" }),
    },
  }));
}

export type Handover = { readonly from: EmbeddedCluster; readonly to: EmbeddedCluster; readonly directory: MemoryFolder };

export async function importAll(target: EmbeddedCluster, directory: MemoryFolder, run: FolderRun = {}): Moved<ImportReceipt> {
  const context = receiveContext(target, directory, run);
  if (!context.ok) return { ok: false, error: { kind: "refused", message: context.error.join("; "), reasons: context.error } };
  return runReceive(context.value);
}

/** Export, import, confirmation by the text of the receipt. */
export async function handOver({ from, to, directory }: Handover, run: FolderRun = {}): Promise<Result<ExportReport, MoveFailure>> {
  const exported = await runExport(exportContext(from, directory, run));
  if (!exported.ok || exported.value.id === undefined) return exported;
  const received = await importAll(to, directory, run);
  if (!received.ok) return received;
  const receipt = expectOk(parseReceipt(receiptText(received.value)));
  return runExport({ ...exportContext(from, directory, run), receipt });
}
