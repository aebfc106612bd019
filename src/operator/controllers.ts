/** The controllers of this release, as a list: the manager runs them and RBAC is computed from them. */
import { acceptanceController } from "#controllers";
import { latticeKinds } from "#crds";

export const operatorControllers = latticeKinds.map(acceptanceController);
