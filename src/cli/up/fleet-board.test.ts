/** What `lattice up` prints about its clusters. */
import { expect, test } from "vitest";
import { FakeClock } from "#base";
import { fleetFolder, type ClusterView, type OpenFolder } from "#fleet";
import type { CliIo } from "../io.ts";
import { plainText } from "../styled-text.ts";
import { BoardTable } from "./board-table.ts";
import { followFleet } from "./fleet-board.ts";
import { nextForInstalled, withoutClusters } from "./laptop-text.ts";
import { describeEmpty, describeMoved, nextForEmpty, nextForServices } from "./up-text.ts";

const view = (more: Partial<ClusterView>): ClusterView => ({
  name: "mgmt",
  kubeconfig: "/k",
  pids: [],
  state: "Starting",
  operators: [],
  ...more,
});
const running = { state: "Running", url: "https://127.0.0.1:1" } as const;
const operator = (pod: string, ready: boolean) => ({ pod, ready });

test("each change of a cluster is one line", async () => {
  const clock = new FakeClock();
  const lines: string[] = [];
  const table = new BoardTable({ clock, print: (text) => void lines.push(plainText(text).trimEnd()) });
  let clusters: readonly ClusterView[] = [view({})];
  const listeners = new Set<() => void>();
  const fleet = {
    clusters: () => clusters,
    subscribe: (listener: () => void) => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
  const end = followFleet(fleet, table, { all: true });
  const change = async (more: Partial<ClusterView>) => {
    await clock.advance(1_000);
    clusters = [view(more)];
    for (const listener of listeners) listener();
  };
  await change(running);
  await change({ ...running, pids: [7] });
  await change({ ...running, operators: [operator("a", true)] });
  await change({ ...running, operators: [operator("a", true), operator("b", false)] });
  await change({ state: "Restarting" });
  await change({ state: "Restarting", message: "its data is damaged; lattice up --repair starts with the intact part" });
  await change({ state: "Stopping" });
  await change({ state: "Stopped" });
  end();
  await change({});
  expect(lines).toEqual([
    "   0.0s  cluster      mgmt                Starting",
    "   1.0s  cluster      mgmt                Running    https://127.0.0.1:1; no operator is ready",
    "   3.0s  cluster      mgmt                Running    https://127.0.0.1:1; its operator is ready",
    "   4.0s  cluster      mgmt                Running    https://127.0.0.1:1; 1 of 2 operators are ready",
    "   5.0s  cluster      mgmt                Restarting  its API server ended and is started again",
    "   6.0s  cluster      mgmt                Restarting  its data is damaged; lattice up --repair starts with the intact part",
    "   7.0s  cluster      mgmt                Stopping",
    "   8.0s  cluster      mgmt                Stopped    lattice start mgmt starts it",
  ]);
  lines.length = 0;
  followFleet(fleet, table, { all: false })();
  expect(lines).toEqual([]);
});

test("a port that was taken is named with the new one", () => {
  expect(describeMoved([view(running)])).toBe("");
  expect(describeMoved([view({ movedPort: { from: 26_001, to: 26_002 } })])).toBe(
    "Port 26001 of cluster mgmt is used by another program; its API server has port 26002 now, as its kubeconfig says.\n\n",
  );
});

test("commands to try name the folder when it is not the default one", () => {
  const io = { cwd: "/home/me" } as CliIo;
  const [usual, other] = [fleetFolder("/home/me/.lattice"), fleetFolder("/tmp/fleet")];
  const clusters = [view({}), view({ name: "cluster-2", kubeconfig: "/tmp/fleet/clusters/cluster-2/kubeconfig" })];
  expect(nextForEmpty(io, other, clusters)).toContain("./lattice stop cluster-2 --data-dir /tmp/fleet\n");
  expect(nextForEmpty(io, other, clusters)).toContain("export KUBECONFIG=/tmp/fleet/clusters/cluster-2/kubeconfig\n");
  expect(nextForEmpty(io, other, [])).toBe("");
  const services = nextForServices(io, usual, { caller: "shop/a", callee: "shop/b", declaredIn: "team" });
  expect(services).toContain("export KUBECONFIG=$PWD/.lattice/kubeconfig\n");
  expect(services).toContain("kubectl patch ls b -n team --type merge");
  expect(services).not.toContain("--data-dir");
  expect(services.split("\n").filter((line) => line.length > 80)).toEqual([]);
  expect([describeEmpty([view({})]), describeEmpty(clusters)].map((text) => text.split(",")[0])).toEqual([
    "A cluster starts",
    "2 clusters start",
  ]);
});

test("an installation that has not ended, or was removed, is not shown as a fleet to try", () => {
  const io = { cwd: "/home/me" } as CliIo;
  const opened = { folder: fleetFolder("/tmp/fleet"), management: "hq" } as OpenFolder;
  const complete = nextForInstalled(io, opened, new Set(["hq"]));
  expect(complete).toContain("./lattice stop hq --data-dir /tmp/fleet\n");
  expect(complete).not.toContain("has not ended");
  expect(nextForInstalled(io, opened, new Set(["hq", "lattice-bootstrap"]))).toContain("lattice uninstall hq --data-dir /tmp/fleet\n");
  const orphans = nextForInstalled(io, opened, new Set(["east"]));
  expect(orphans).toContain("hq was uninstalled");
  expect(orphans).not.toContain("stop hq");
  expect(withoutClusters(opened)).toContain("/tmp/fleet has no clusters: hq was uninstalled");
});
