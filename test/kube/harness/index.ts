export { uniqueName, type KubectlOptions, type PlaneAccess, type PlaneData } from "./access.ts";
export { COMPONENTS, type Component } from "./components.ts";
export { eventually, type PollOptions } from "./eventually.ts";
export type { HttpResponse, HttpRequest } from "./http.ts";
export { installCrds, installLatticeCrds } from "./install-crds.ts";
export {
  CILIUM,
  CLUSTER_API_CRDS,
  COMPILED_CLUSTER_CRDS,
  FLAGGER_CRDS,
  FLAGGER_MODULE,
  MESH_CRDS,
  moduleFolder,
  publishedCrds,
  type CrdSource,
} from "./published-crds.ts";
export { realPlane, startPlane, type PlaneError, type PlaneOptions, type RealPlane } from "./real-plane.ts";
export { runProgram, type Ran, type RunOptions } from "./run-program.ts";
export { sharedPlane } from "./shared-plane.ts";
