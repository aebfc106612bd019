/**
 * All invalid objects: at least one row for every rule of every kind. The parser's test (src/crds) and the story on a real
 * server (test/kube) both run these rows, so that parser and CRD agree.
 */
import { invalidClusters } from "./invalid-clusters.ts";
import { invalidContainers } from "./invalid-containers.ts";
import { invalidOthers } from "./invalid-others.ts";
import type { InvalidResource } from "./invalid-resource.ts";
import { invalidServices } from "./invalid-services.ts";

export type { InvalidResource, InvalidUpdate } from "./invalid-resource.ts";
export { invalidUpdates } from "./invalid-updates.ts";

export const invalidResources: readonly InvalidResource[] = [
  ...invalidClusters,
  ...invalidContainers,
  ...invalidServices,
  ...invalidOthers,
];
