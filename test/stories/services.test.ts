/**
 * The life cycle of a shop, as its owner sees it in the feed: services become Ready, an edge opens when the second side agrees, an invalid
 * change does not affect running pods, and a deletion closes edges. The golden feed shows every change of behaviour.
 */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { expectOk } from "#base";
import { latticeServices } from "#crds";
import { parseYaml, type KubeObject } from "#kube";
import { openWatchBoard, plainText } from "#cli";
import { secret } from "../builders/lattice-objects.ts";
import { OperatedCluster } from "../builders/operated-cluster.ts";

const SHOP = join(import.meta.dirname, "../../examples/shop");

function shop(): readonly KubeObject[] {
  const files = readdirSync(SHOP).filter((name) => name.endsWith(".yaml"));
  const documents = files.flatMap((name) => expectOk(parseYaml(readFileSync(join(SHOP, name), "utf8")))) as unknown as KubeObject[];
  return documents.map((object) =>
    object.kind === "LatticeEnvironment" ? object : { ...object, metadata: { namespace: "default", ...object.metadata } },
  );
}

/** The last line of each object in this chapter, without the time: earlier lines depend on the order of reconciles. */
function lastLines(text: string): string {
  const lines = text.split("\n").filter((line) => line.trim() !== "");
  const last = new Map(
    lines.map((line) => {
      const entry = line.trimEnd().replace(/^ *[0-9.]+s +/, "");
      return [entry.startsWith("flow") ? entry : entry.split(/ +/).slice(0, 2).join(" "), entry] as const;
    }),
  );
  return [...last.values()].toSorted().join("\n");
}

test("the feed shows services that become Ready, agree, fail, recover and are deleted", async () => {
  await using operated = await OperatedCluster.start({});
  let written = "";
  const stop = new AbortController();
  const print = (text: Parameters<typeof plainText>[0]) => void (written += plainText(text));
  const board = await openWatchBoard({ client: operated.client, clock: operated.clock, random: () => 0.5, print, signal: stop.signal });
  board.start();
  written = "";
  const chapter = async (act: () => Promise<unknown>, ms = 10_000) => {
    await act();
    await operated.live(ms, 500);
    const lines = lastLines(written);
    written = "";
    return lines;
  };

  const secrets = [secret("shop/postgres-products", { password: "p" }, "default"), secret("shop/stripe", { "api-key": "k" }, "default")];
  expect(await chapter(() => operated.apply(...secrets, ...shop()), 15_000)).toMatchSnapshot("start");
  expect(board.isUp()).toBe(true);

  const catalog = { namespace: "default", name: "catalog" };
  const patch = (spec: object) => operated.client.patch(latticeServices, catalog, { type: "merge", patch: { spec } as never });
  expect(await chapter(() => patch({ resources: { cart: { direction: "inbound" } } }))).toMatchSnapshot("the second side agrees");
  expect(await chapter(() => patch({ containers: { main: { variables: { OOPS: "${config.nope}" } } } }))).toMatchSnapshot("a mistake");
  expect(await operated.read("Deployment", "shop/catalog")).toMatchObject({ status: { availableReplicas: 2 } });
  expect(await chapter(() => patch({ containers: { main: { variables: { OOPS: null } } } }))).toMatchSnapshot("corrected");
  expect(await chapter(() => operated.remove(latticeServices, "default/catalog"))).toMatchSnapshot("catalog is deleted");
  stop.abort();
  await operated.live(100);
  await board.ended();
}, 60_000);
