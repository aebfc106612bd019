/** The receipt of an import: the target owns the clusters, so the source may delete them. And the claim of a target on a directory. Pure. */
import { andThen, err, ok, type Result } from "#base";
import { field, type Json } from "#kube";
import { commentedJson, parseCommentedJson } from "./commented-json.ts";

export type ImportReceipt = {
  readonly id: string;
  readonly digest: string;
  /** The identity of the cluster that owns the clusters now. */
  readonly target: string;
  readonly epoch: number;
  readonly objects: number;
  readonly committedAt: string;
};

export type FolderClaim = { readonly id: string; readonly target: string; readonly ended: boolean };

export function receiptText(receipt: ImportReceipt): string {
  return commentedJson("The receipt of an import by lattice: give it to lattice pivot export --confirm.", { receipt });
}

export function parseReceipt(text: string): Result<ImportReceipt, string> {
  return andThen(parseCommentedJson(text), (value) => {
    const receipt = field(value, "receipt");
    const isReceipt =
      ["id", "digest", "target", "committedAt"].every((name) => isText(field(receipt, name))) &&
      ["epoch", "objects"].every((name) => typeof field(receipt, name) === "number");
    return isReceipt ? ok(receipt as unknown as ImportReceipt) : err("is no receipt of an import");
  });
}

export function claimText(claim: FolderClaim): string {
  return commentedJson("The cluster that lattice has imported this directory into.", { claim });
}

export function parseClaim(text: string): Result<FolderClaim, string> {
  return andThen(parseCommentedJson(text), (value) => {
    const claim = field(value, "claim");
    const isClaim = isText(field(claim, "id")) && isText(field(claim, "target")) && typeof field(claim, "ended") === "boolean";
    return isClaim ? ok(claim as unknown as FolderClaim) : err("is no claim of an import");
  });
}

const isText = (value: Json | undefined) => typeof value === "string" && value !== "";
