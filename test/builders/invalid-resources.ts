/**
 * All that must be refused: at least one row for every rule of every kind. The parser's test (src/crds) and the story on a real
 * server (test/kube) both read these rows, so neither can drift from the other.
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
