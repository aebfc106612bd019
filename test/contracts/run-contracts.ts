/**
 * Runs contracts as tests on one server. A contract with a known deviation also runs: when it passes, the deviation is obsolete, which is
 * an error.
 */
import { randomBytes } from "node:crypto";
import { describe, test } from "vitest";
import { Api, type World } from "./client/api.ts";
import type { Contract } from "./contract.ts";

/** Claims that fail on a server, and why. */
export type Deviations = Readonly<Record<string, string>>;

/** `pending`: areas and claims that are not run at all. */
export type ContractOptions = { readonly deviations: Deviations; readonly pending?: readonly string[] };

export function runContracts(contracts: readonly Contract[], { deviations, pending = [] }: ContractOptions, world: () => World): void {
  const unknown = Object.keys(deviations).filter((name) => !contracts.some((contract) => contract.name === name));
  test("every deviation names a contract", ({ expect }) => {
    expect(unknown).toEqual([]);
  });
  test("names of claims are unique", ({ expect }) => {
    expect(new Set(contracts.map(({ name }) => name)).size).toBe(contracts.length);
  });
  for (const [area, claims] of Map.groupBy(contracts, (contract) => contract.area)) {
    describe.skipIf(pending.includes(area)).concurrent(area, () => {
      for (const contract of claims) {
        if (pending.includes(contract.name)) {
          test.skip(contract.name);
          continue;
        }
        const reason = Object.hasOwn(deviations, contract.name) ? deviations[contract.name] : undefined;
        if (reason === undefined) test(contract.name, () => runContract(contract, world()));
        else test(`${contract.name} [fails: ${reason}]`, () => mustFail(contract, world()));
      }
    });
  }
}

/** Runs in a new namespace, with the ServiceAccount that Pods need: a real cluster creates it with a delay. */
export async function runContract(contract: Contract, world: World, id = randomBytes(4).toString("hex")): Promise<void> {
  const api = new Api(world, id);
  try {
    (await api.send("POST", "/api/v1/namespaces", { metadata: { name: api.namespace } })).gives(201);
    await api.send("POST", "serviceaccounts", { metadata: { name: "default" } });
    await contract.run(api);
  } finally {
    await api.close();
  }
}

async function mustFail(contract: Contract, world: World): Promise<void> {
  let failed = false;
  try {
    await runContract(contract, world);
  } catch {
    failed = true;
  }
  if (!failed) throw new Error("this contract passes now: remove it from the list of deviations");
}
