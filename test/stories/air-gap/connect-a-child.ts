/** The program that air-gap.test.ts runs: `lattice up`, a cell, and a child until its agent is connected; then everything ends. */
import { clientOf } from "../../builders/fleet/fleet-client.ts";
import { FleetCell } from "../../builders/fleet/child-of-a-cell.ts";
import { FleetProcess, fleetFolder } from "../../builders/fleet/fleet-process.ts";

const folder = fleetFolder();
const fleet = new FleetProcess(folder.path, ["--empty", "--clusters", "1"]);
try {
  await fleet.untilRunning(1);
  const client = await clientOf(fleet.clusters()[0]?.kubeconfig ?? "");
  const cell = new FleetCell(fleet, client);
  await cell.becomeCell();
  await cell.create("prod", { nodes: { controlPlane: 1, workers: 1 } });
  await cell.untilPivoted("prod", 2);
  console.log(JSON.stringify((await cell.read("prod"))?.status?.agent));
  await client.close();
} finally {
  await fleet.end();
  folder.remove();
}
