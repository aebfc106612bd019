/** The contracts on a real kube-apiserver, which defines the expectations: nothing is skipped here. */
import { afterAll, beforeAll } from "vitest";
import { reveal } from "#base";
import { contracts } from "../contracts/cases/index.ts";
import type { World } from "../contracts/client/api.ts";
import { connectTo } from "../contracts/client/exchange.ts";
import { startHookHost } from "../contracts/client/hook-host.ts";
import { REAL_DEVIATIONS } from "../contracts/deviations.ts";
import { runContracts } from "../contracts/run-contracts.ts";
import { sharedPlane } from "./harness/index.ts";

let world: World | undefined;

beforeAll(async () => {
  const { url, caPem, adminToken } = sharedPlane();
  world = { connection: connectTo(url, caPem), adminToken: reveal(adminToken), hooks: await startHookHost() };
});

afterAll(async () => {
  world?.connection.close();
  await world?.hooks.close();
});

runContracts(contracts, { deviations: REAL_DEVIATIONS }, () => {
  if (world === undefined) throw new Error("the plane has not started");
  return world;
});
