/**
 * Malicious services, in a cluster whose schema accepts everything: each runs or is rejected with a message, and other services are
 * not affected.
 */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { expectOk } from "#base";
import { latticeServices, type LatticeService } from "#crds";
import { fieldAt, parseYaml } from "#kube";
import { hostileServices } from "../../../test/builders/hostile-services.ts";
import { latticeService } from "../../../test/builders/lattice-objects.ts";
import { openServiceCrd } from "../../../test/builders/open-crd.ts";
import { OperatedCluster } from "../../../test/builders/operated-cluster.ts";

/** Each in its own namespace. Invalid YAML never reaches a cluster. */
const rows = hostileServices
  .filter(({ notYaml }) => notYaml !== true)
  .map((row, at) => ({ ...row, namespace: `h${at}`, given: row.given.replace("namespace: shop", `namespace: h${at}`) }));

let operated: OperatedCluster;
/** Rejected by the API server itself. */
const refusedByServer = new Map<string, string>();

beforeAll(async () => {
  operated = await OperatedCluster.start({ objects: [openServiceCrd(), latticeService("shop/bystander")] });
  for (const { namespace, given } of rows) {
    const [object] = expectOk(parseYaml(given)) as unknown as readonly LatticeService[];
    const ready = { apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } };
    await operated.apply(ready);
    if (object === undefined) continue;
    const created = await operated.client.create(latticeServices, object);
    if (!created.ok) refusedByServer.set(namespace, created.error.message);
  }
  await operated.live(8_000, 500);
}, 60_000);
afterAll(() => operated[Symbol.asyncDispose]());

describe("the controller", () => {
  test.each(rows)("$name", async ({ namespace, want }) => {
    const read = await operated.client.get(latticeServices, { namespace, name: "api" });
    if ("refused" in want) {
      const status = read.ok ? read.value.status : undefined;
      const message = refusedByServer.get(namespace) ?? status?.message ?? "";
      expect(message).not.toBe("");
      expect(message.length).toBeLessThan(40_000);
      if (!refusedByServer.has(namespace))
        expect({ phase: status?.phase, message }).toMatchObject({
          phase: "Failed",
          message: expect.stringContaining(want.refused) as string,
        });
      expect(await operated.names("Deployment", namespace)).toEqual([]);
    } else {
      expect(expectOk(read).status?.phase).toBe("Ready");
      expect(fieldAt(await operated.read("ConfigMap", `${namespace}/api-env`), "data")).toEqual(want.compiles);
    }
  });

  test("the other service runs, and nothing threw", async () => {
    expect((await operated.service("shop/bystander")).status?.phase).toBe("Ready");
    expect(JSON.stringify(operated.lines)).not.toMatch(/InternalError|threw/);
    expect(({} as Readonly<Record<string, unknown>>)["polluted"]).toBeUndefined();
  });

  test("the API server itself rejects only names that every API server rejects", () => {
    const names = rows.filter(({ namespace }) => refusedByServer.has(namespace)).map(({ name }) => name);
    expect(names).toEqual(["a name in unicode", "a name with a Cyrillic letter that looks Latin"]);
  });
});
