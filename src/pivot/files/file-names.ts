/** Names of files in the layout of `clusterctl move --to-directory`: one file for each object. Pure. */
import type { NamedObject } from "#kube";

/** All its lines are comments: clusterctl reads every file of a directory, and skips documents without content. */
export const MANIFEST_FILE = "lattice-export.yaml";
/** Names the cluster that imports the directory; likewise only comments. */
export const CLAIM_FILE = "lattice-import.yaml";

/** The receipt of the import, for the source; likewise. */
export const RECEIPT_FILE = "lattice-receipt.yaml";

const OWN_FILES: ReadonlySet<string> = new Set([MANIFEST_FILE, CLAIM_FILE, RECEIPT_FILE]);

export function isOwnFile(name: string): boolean {
  return OWN_FILES.has(name);
}

/** "Machine_prod_m-1.yaml", "AWSClusterStaticIdentity__default.yaml". The content is JSON. */
export function fileNameOf({ kind, metadata: { namespace = "", name } }: NamedObject): string {
  return `${kind}_${namespace}_${name}.yaml`;
}

const KIND = /^[A-Z][A-Za-z0-9]{0,62}$/;
const NAMESPACE = /^(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)?$/;
const NAME = /^[a-z0-9](?:[a-z0-9.:-]{0,251}[a-z0-9])?$/;

/** Whether a kind, a namespace and a name can be part of a file name: nothing that leads out of a directory. */
export function isFileName(text: string): boolean {
  const [kind = "", namespace = "", name = "", ...more] = text.replace(/\.yaml$/, "").split("_");
  return text.endsWith(".yaml") && more.length === 0 && KIND.test(kind) && NAMESPACE.test(namespace) && NAME.test(name);
}

/** A file that an export may write into its directory. */
export function isExportFile(name: string): boolean {
  return isOwnFile(name) || isFileName(name);
}
