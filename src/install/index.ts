export { checkManagementCluster, type ManagementFile } from "./management-file.ts";
export { readBootstrapRecord, type BootstrapRecord } from "./bootstrap-record.ts";
export { cleanBootstrap } from "./clean-bootstrap.ts";
export { planBootstrap, prepareBootstrap, type BootstrapPlan, type PreparedCluster } from "./prepare-bootstrap.ts";
export type { BootstrapEnd, BootstrapHost, CellEndpoints, FindCluster, ManagementAccess } from "./ports.ts";
export {
  runInstall,
  runUninstall,
  type InstallFailure,
  type InstallOptions,
  type InstallProgress,
  type RunOptions,
} from "./run-install.ts";
export { makeCell, type NewCell } from "./make-cell.ts";
export type { AppliedBeside } from "./beside.ts";
