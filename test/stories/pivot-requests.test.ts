/**
 * `lattice pivot abort` and `resume` of a child of the laptop fleet, answered by the running operator of its parent. The answer to an earlier request is
 * still in the status each time.
 */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { systemClock } from "#base";
import { PIVOT_REQUEST_ANNOTATION } from "#controllers";
import type { KubeClient } from "#kube-client";
import { runCli, type CliRun } from "../builders/cli-io.ts";
import { FleetCell } from "../builders/fleet/child-of-a-cell.ts";
import { clientOf } from "../builders/fleet/fleet-client.ts";
import { FleetProcess, fleetFolder } from "../builders/fleet/fleet-process.ts";

const folder = fleetFolder();
let fleet: FleetProcess;
let client: KubeClient;
let cell: FleetCell;

beforeAll(async () => {
  fleet = new FleetProcess(folder.path, ["--empty", "--clusters", "1"]);
  await fleet.untilRunning(1);
  client = await clientOf(fleet.clusters()[0]?.kubeconfig ?? "");
  cell = new FleetCell(fleet, client);
  await cell.becomeCell();
  await cell.create("dev", { nodes: { controlPlane: 1, workers: 0 } });
}, 180_000);

afterAll(async () => {
  await client.close();
  await fleet.end();
  folder.remove();
}, 60_000);

const pivot = (request: string): Promise<CliRun> =>
  runCli(["pivot", request, "dev", "--kubeconfig", fleet.clusters()[0]?.kubeconfig ?? ""], { clock: systemClock, random: Math.random });

/** The id of the last request, and of the one that the status answers. */
async function ids(): Promise<readonly (string | undefined)[]> {
  const found = await cell.read("dev");
  return [found?.metadata.annotations?.[PIVOT_REQUEST_ANNOTATION], found?.status?.pivot?.request];
}

/** Another request than the one before, and its own answer. */
async function expectAnswered(before: readonly (string | undefined)[]): Promise<void> {
  const [asked, answered] = await ids();
  expect([asked === undefined, asked === before[0], answered]).toEqual([false, false, asked]);
}

describe("requests about a pivot", { timeout: 240_000 }, () => {
  test("a child whose pivot is aborted early is provisioned, and stays with its parent", async () => {
    expect(await pivot("abort")).toMatchObject({ code: 0, stdout: expect.stringContaining("the pivot was aborted") as string });
    await fleet.until("the child is complete", async () => (await cell.read("dev"))?.status?.phase === "Pivoting");
    const before = await ids();
    expect(await pivot("abort")).toMatchObject({ code: 0, stdout: expect.stringContaining("the pivot was aborted") as string });
    await expectAnswered(before);
    expect((await cell.read("dev"))?.status).toMatchObject({ phase: "Pivoting", ownedBy: "mgmt" });
  });

  test("a resume starts the pivot, and an abort after it is refused", async () => {
    const before = await ids();
    const resumed = await pivot("resume");
    await expectAnswered(before);
    expect([resumed.code, resumed.stdout]).toEqual([0, expect.not.stringContaining("aborted")]);
    await cell.untilPivoted("dev", 1);
    expect(await pivot("abort")).toMatchObject({ code: 1, stderr: expect.stringContaining("owns itself already") as string });
  });
});
