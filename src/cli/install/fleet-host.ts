/** A bootstrap cluster and a management cluster as processes of a local fleet. */
import { readFile } from "node:fs/promises";
import { describeThrown, err, fromPromise, ok } from "#base";
import type { Fleet } from "#fleet";
import type { BootstrapHost, ManagementAccess } from "#install";
import { editCommand } from "./person-commands.ts";
import { localEndpoints } from "../local-endpoints.ts";
import type { FleetClients } from "./fleet-clients.ts";

/** The name of the bootstrap cluster in a fleet. */
export const BOOTSTRAP = "lattice-bootstrap";

export function fleetHost(fleet: Fleet, clients: FleetClients, dataDir?: string): BootstrapHost {
  const view = () => fleet.clusters().find(({ name }) => name === BOOTSTRAP);
  return {
    name: BOOTSTRAP,
    atEnd: "removed",
    find: async () => {
      const found = view();
      if (found?.bare === true) return err(`the name ${BOOTSTRAP} is used by a cluster that is made of machines; delete that one first`);
      if (found?.state === "Stopped") {
        const started = await fleet.start(BOOTSTRAP);
        if (!started.ok) return started;
      }
      return clients.find(BOOTSTRAP);
    },
    create: async () => {
      const added = await fleet.add({ name: BOOTSTRAP });
      return added.ok ? ok(undefined) : added;
    },
    remove: () => (view() === undefined ? Promise.resolve(ok(undefined)) : fleet.remove(BOOTSTRAP)),
    endpoints: localEndpoints,
    discard: `delete what exists with lattice down --purge${dataDir === undefined ? "" : ` --data-dir ${dataDir}`} and run the same command again`,
  };
}

export type FleetManagement = { readonly name: string; /** The file of its kubeconfig. */ readonly kubeconfig: string };

export function fleetManagement(fleet: Fleet, clients: FleetClients, { name, kubeconfig: shown }: FleetManagement): ManagementAccess {
  return {
    find: () => clients.find(name),
    edit: `${editCommand(shown, name)} while lattice up runs`,
    kubeconfig: async () => {
      const view = fleet.clusters().find((one) => one.name === name);
      return view === undefined ? err(`there is no cluster ${name}`) : fromPromise(readFile(view.kubeconfig, "utf8"), describeThrown);
    },
  };
}
