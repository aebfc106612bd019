export { checkManagementCluster, type ManagementFile } from "./management-file.ts";
export type { BootstrapHost, CellEndpoints, FindCluster, ManagementAccess } from "./ports.ts";
export {
  runInstall,
  runUninstall,
  type InstallFailure,
  type InstallOptions,
  type InstallProgress,
  type RunOptions,
} from "./run-install.ts";
export { makeCell, type NewCell } from "./make-cell.ts";
export type { AppliedBeside } from "./steps.ts";
