/** All commands, in the order in which `lattice --help` lists them within their groups. */
import { registerApiServer } from "./api-server.ts";
import { registerBackup } from "./backup.ts";
import { registerBundle } from "./bundle.ts";
import { registerCerts } from "./certs.ts";
import type { RegisterCommand } from "./command.ts";
import { registerCompile } from "./compile.ts";
import { registerCompletion } from "./completion.ts";
import { registerStart, registerStop } from "./control.ts";
import { registerCrds } from "./crds.ts";
import { registerDetach } from "./detach.ts";
import { registerDiff } from "./diff.ts";
import { registerDown } from "./down.ts";
import { registerFleetApiServer } from "./fleet-api-server.ts";
import { registerFleetMachine } from "./fleet-machine.ts";
import { registerGraph } from "./graph.ts";
import { registerInit } from "./init.ts";
import { registerInstall } from "./install.ts";
import { registerMachineTools } from "./machine-tools.ts";
import { registerMove } from "./move.ts";
import { registerOperator } from "./operator.ts";
import { registerPatchPreview } from "./patch-preview.ts";
import { registerPatch } from "./patch.ts";
import { registerPivot } from "./pivot.ts";
import { registerRbac } from "./rbac.ts";
import { registerReparent } from "./reparent.ts";
import { registerRestore } from "./restore.ts";
import { registerStatus } from "./status.ts";
import { registerTree } from "./tree.ts";
import { registerUninstall } from "./uninstall.ts";
import { registerUp } from "./up.ts";
import { registerValidate } from "./validate.ts";
import { registerVersion } from "./version.ts";
import { registerWhy } from "./why.ts";

export const COMMANDS: readonly RegisterCommand[] = [
  registerInit,
  registerValidate,
  registerCompile,
  registerDiff,
  registerPatchPreview,
  registerDetach,
  registerWhy,
  registerGraph,
  registerStatus,
  registerUp,
  registerDown,
  registerStop,
  registerStart,
  registerApiServer,
  registerCrds,
  registerRbac,
  registerOperator,
  registerBundle,
  registerInstall,
  registerUninstall,
  registerTree,
  registerCerts,
  registerMove,
  registerReparent,
  registerPivot,
  registerBackup,
  registerRestore,
  registerPatch,
  registerCompletion,
  registerVersion,
  registerFleetApiServer,
  registerFleetMachine,
  registerMachineTools,
];
