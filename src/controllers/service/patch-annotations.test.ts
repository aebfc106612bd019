/** A record leaves room for the annotations that controllers add. */
import { expect, test } from "vitest";
import { account, declared, deployment, isPatched, main, nginx, patching, startPatching } from "../../../test/builders/patched-service.ts";

test("with a record near the limit a Deployment rolls out: its annotations are copied to ReplicaSets, which get some of their own", async () => {
  const annotations = { note: "x".repeat(242_000) };
  await using started = await startPatching([account(), deployment({ metadata: { annotations } }), patching()]);
  const { operated } = started;
  const sizeOf = async () => JSON.stringify((await nginx(started))?.metadata.annotations).length;
  expect(isPatched(await nginx(started))).toBe(true);
  const { length } = JSON.stringify(annotations);
  const [room, record] = [240 * 1_024 - length, (await sizeOf()) - length];
  expect(record).toBeLessThan(room);
  const image = "nginx:2";
  await operated.apply(patching({ containers: { main: { ...declared.containers.main, image } } }));
  await operated.live(10_000, 500);
  expect(main(await nginx(started))?.image).toBe(image);
  expect(await operated.condition("shop/web", "Ready")).toMatchObject({ status: "True" });
});
