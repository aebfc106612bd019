/** The plane that all story files share. `global-setup.ts` starts it once, before any story. */
import { inject } from "vitest";
import { accessTo, type PlaneAccess, type PlaneData } from "./access.ts";

declare module "vitest" {
  export interface ProvidedContext {
    readonly kubePlane: PlaneData;
  }
}

/** Without `stop` and `restartApiServer`: the plane is shared. A story that needs those calls `realPlane()`. */
export function sharedPlane(): PlaneAccess {
  return accessTo(inject("kubePlane"));
}
