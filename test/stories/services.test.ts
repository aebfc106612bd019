/**
 * A shop from nothing to traffic, as its owner watches it: what each service says while it comes up, a door that opens when the second side agrees, a
 * mistake that changes nothing, and an end that closes the doors behind it. The log is the story; a change of it is to be read.
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

/** The last word of each in this chapter, without the time: what is said on the way depends on who was first. */
function lastWords(text: string): string {
  const lines = text.split("\n").filter((line) => line.trim() !== "");
  const words = new Map(
    lines.map((line) => {
      const said = line.trimEnd().replace(/^ *[0-9.]+s +/, "");
      return [said.startsWith("flow") ? said : said.split(/ +/).slice(0, 2).join(" "), said] as const;
    }),
  );
  return [...words.values()].toSorted().join("\n");
}

test("the shop comes up, agrees, errs and ends", async () => {
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
    const told = lastWords(written);
    written = "";
    return told;
  };

  const secrets = [secret("shop/postgres-products", { password: "p" }, "default"), secret("shop/stripe", { "api-key": "k" }, "default")];
  expect(await chapter(() => operated.apply(...secrets, ...shop()), 15_000)).toMatchSnapshot("coming up");
  expect(board.isUp()).toBe(true);

  const catalog = { namespace: "default", name: "catalog" };
  const patch = (spec: object) => operated.client.patch(latticeServices, catalog, { type: "merge", patch: { spec } as never });
  expect(await chapter(() => patch({ resources: { cart: { direction: "inbound" } } }))).toMatchSnapshot("the second side agrees");
  expect(await chapter(() => patch({ containers: { main: { variables: { OOPS: "${config.nope}" } } } }))).toMatchSnapshot("a mistake");
  expect(await operated.read("Deployment", "shop/catalog")).toMatchObject({ status: { availableReplicas: 2 } });
  expect(await chapter(() => patch({ containers: { main: { variables: { OOPS: null } } } }))).toMatchSnapshot("mended");
  expect(await chapter(() => operated.remove(latticeServices, "default/catalog"))).toMatchSnapshot("the end of catalog");
  stop.abort();
  await operated.live(100);
  await board.ended();
}, 60_000);
