/**
 * Contracts as tests on one server. A contract that is skipped has a written reason, and it runs all the same: when it passes, the reason
 * has become untrue, and that is an error.
 */
import { randomBytes } from "node:crypto";
import { describe, test } from "vitest";
import { Api, type World } from "./client/api.ts";
import type { Contract } from "./contract.ts";

/** Claims that a server is known not to keep, and why. */
export type Deviations = Readonly<Record<string, string>>;

/** `pending`: areas and claims that are not run at all. */
export type Known = { readonly deviations: Deviations; readonly pending?: readonly string[] };

export function runContracts(contracts: readonly Contract[], { deviations, pending = [] }: Known, world: () => World): void {
  const unknown = Object.keys(deviations).filter((name) => !contracts.some((contract) => contract.name === name));
  test("every deviation is one of a contract", ({ expect }) => {
    expect(unknown).toEqual([]);
  });
  test("every claim is made once", ({ expect }) => {
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
        if (reason === undefined) test(contract.name, () => show(contract, world()));
        else test(`${contract.name} [not here: ${reason}]`, () => mustFail(contract, world()));
      }
    });
  }
}

/** In a namespace of its own, with the account that Pods need: a real cluster makes it a moment after the namespace. */
export async function show(contract: Contract, world: World, id = randomBytes(4).toString("hex")): Promise<void> {
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
    await show(contract, world);
  } catch {
    failed = true;
  }
  if (!failed) throw new Error("this contract holds now: take it off the list of deviations");
}
