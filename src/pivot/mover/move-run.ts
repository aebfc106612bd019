/** What one run of a move knows; its steps and observations write it. */
import type { TargetRecordData } from "../journal/records.ts";
import type { MoveContext } from "./context.ts";
import type { SourceKinds } from "./discover.ts";
import type { ReadRecord, StoredHead } from "./journal.ts";
import type { TransferResult } from "./transfer.ts";

export type MoveRun = {
  readonly context: MoveContext;
  readonly source: string;
  readonly target: string;
  head: StoredHead | undefined;
  record: ReadRecord | undefined;
  transferred: TransferResult | undefined;
  /** This run has written the journal. */
  begun: boolean;
  /** There is nothing to move. */
  empty: boolean;
  /** The record that this run has finished: another move may have replaced it since. */
  finished: TargetRecordData | undefined;
  fenced: boolean;
  kinds: SourceKinds | undefined;
  /** The last head that was seen, for the report: the journal is gone at the end. */
  last: StoredHead | undefined;
};
