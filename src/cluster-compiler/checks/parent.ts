/** The parent: the one that the spec names, and the one that compiles. */
import type { LatticeCluster } from "#crds";
import { MOST_FILE_CHARACTERS } from "../bootstrap-script.ts";
import type { ClusterSpecError } from "../errors.ts";
import type { ClusterSettingsInput } from "../input.ts";
import { parseAddress } from "../networks.ts";
import { isHostName } from "./endpoints.ts";

export function checkParent({ metadata: { name }, spec }: LatticeCluster, { cell }: ClusterSettingsInput): readonly ClusterSpecError[] {
  return [...checkCellRef(name, spec.cellRef, cell?.name), ...checkCell(name, cell)];
}

function checkCellRef(name: string, cellRef: string | undefined, cell: string | undefined): readonly ClusterSpecError[] {
  const path = "spec.cellRef";
  if (cellRef === undefined) return [];
  if (cellRef === name) {
    return [{ reason: "CellRefInvalid", path, message: "is the cluster's own name: a cluster cannot be its own parent; remove it" }];
  }
  if (cell === undefined || cell === cellRef) return [];
  const message = `is ${cellRef}, and this cell is ${cell}: a cluster has one parent; remove the field, or create the cluster on ${cellRef}`;
  return [{ reason: "CellRefInvalid", path, message }];
}

function checkCell(name: string, cell: ClusterSettingsInput["cell"]): readonly ClusterSpecError[] {
  if (cell === undefined) return [];
  const errors: ClusterSpecError[] = [];
  if (cell.name === name) {
    const message = `is the name of the cell that would create it; give the new cluster another name`;
    errors.push({ reason: "NameInvalid", path: "metadata.name", message });
  }
  // the host is part of a shell script
  if (parseAddress(cell.host) === undefined && !isHostName(cell.host)) {
    const message = `the cell's host ${JSON.stringify(cell.host)} is neither a DNS name nor an IP address; correct spec.endpoints.host of LatticeCluster ${cell.name}`;
    errors.push({ reason: "EndpointInvalid", path: "spec.cellRef", message });
  }
  if (cell.caBundle.length === 0 || cell.caBundle.length > MOST_FILE_CHARACTERS) {
    const message = `the certificates of cell ${cell.name} have ${cell.caBundle.length} characters, and a node gets 1 to ${MOST_FILE_CHARACTERS}; remove authorities that have expired from Secret lattice-cell-ca`;
    errors.push({ reason: "TrustBundleTooLarge", path: "spec.cellRef", message });
  }
  return errors;
}
