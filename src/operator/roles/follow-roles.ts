/**
 * Starts and stops the roles of an operator when its cluster changes: ConfigMap lattice-identity, the LatticeCluster that it names, and Secret
 * lattice-parent-config. It runs in standbys too, so that a standby that takes over has its caches.
 */
import type { Logger } from "#base";
import type { ControllerManager } from "#controller-runtime";
import { CELL_ENDPOINTS_CONFIG_MAP, identityOf, IDENTITY_CONFIG_MAP, PARENT_CONFIG_SECRET } from "#controllers";
import { latticeClusters } from "#crds";
import { configMaps, secretsByMetadata, type ObjectKey } from "#kube";
import { OPERATOR_ROLES, rolesOf, type OperatorRole } from "./roles-of.ts";

export type FollowRolesOptions = {
  readonly manager: Pick<ControllerManager, "cache" | "setActive">;
  /** The operator's namespace. */
  readonly home: string;
  readonly logger: Logger;
};

/** The kinds must be followed already. The returned function ends it; the roles stay as they are. */
export function followRoles({ manager, home, logger }: FollowRolesOptions): () => void {
  const { cache } = manager;
  let active: ReadonlySet<OperatorRole> = new Set();
  const update = () => {
    const wanted = rolesOf(identityOf(cache, home));
    for (const role of OPERATOR_ROLES) {
      if (wanted.has(role) === active.has(role)) continue;
      logger.info(wanted.has(role) ? "role started" : "role stopped", { role });
      manager.setActive(role, wanted.has(role));
    }
    active = wanted;
  };
  const isOne = (key: ObjectKey, name: string) => key.namespace === home && key.name === name;
  const ends = [
    cache.subscribe(configMaps, ({ key }) => (isOne(key, IDENTITY_CONFIG_MAP) || isOne(key, CELL_ENDPOINTS_CONFIG_MAP)) && update()),
    cache.subscribe(secretsByMetadata, ({ key }) => isOne(key, PARENT_CONFIG_SECRET) && update()),
    cache.subscribe(latticeClusters, ({ key }) => {
      const { name, endpoints } = identityOf(cache, home);
      // without endpoints in the spec the cell waits for its last child to go
      if (key.name === name || active.has("cell") !== (endpoints !== undefined)) update();
    }),
  ];
  return () => ends.forEach((end) => end());
}
