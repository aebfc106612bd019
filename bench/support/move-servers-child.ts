/** Two embedded API servers with a provisioned cluster at the first one, in a process of their own: the mover is measured without them. */
import { join } from "node:path";
import { makeProvisioned, startMoveWorld } from "../../test/builders/move-world.ts";

export type MoveServersRequest = { readonly name: string; readonly machines: number; readonly folder: string };
export type MoveServersReply = { readonly from: string; readonly to: string };

process.on("message", (request: MoveServersRequest) => void serve(request));
process.on("disconnect", () => process.exit(0));

async function serve({ name, machines, folder }: MoveServersRequest): Promise<void> {
  const world = await startMoveWorld(0);
  await makeProvisioned(world.source.client, name, machines);
  const reply: MoveServersReply = { from: join(folder, "from.kubeconfig"), to: join(folder, "to.kubeconfig") };
  await world.source.listen();
  await world.target.listen();
  await world.source.writeKubeconfig(reply.from);
  await world.target.writeKubeconfig(reply.to);
  process.send?.(reply);
}
