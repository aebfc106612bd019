/** A relay in front of a server that may be killed and started again on another port, and that can cut connections at a given message. */
import { connect, createServer, type AddressInfo, type Socket } from "node:net";

export type SwitchedRelay = {
  readonly port: number;
  /** Where connections lead from now on; open ones are cut. */
  lead(port: number): void;
  /** The connection on which the message with this number from now on arrives is cut: before the server has it, or after. */
  cutAt(message: number, when: "before" | "after"): void;
  /** Messages of clients so far. */
  readonly messages: number;
  close(): Promise<void>;
};

export async function switchedRelay(): Promise<SwitchedRelay> {
  const sockets = new Set<Socket>();
  let upstream = 0;
  let messages = 0;
  let cut: { readonly message: number; readonly when: "before" | "after" } | undefined;
  const closeAll = () => {
    for (const socket of sockets) socket.destroy();
    sockets.clear();
  };
  const server = createServer((near) => {
    const far = connect(upstream, "127.0.0.1");
    for (const socket of [near, far]) {
      sockets.add(socket);
      socket.on("error", () => {}).on("close", () => sockets.delete(socket));
    }
    near.on("close", () => far.destroy());
    far.on("close", () => near.destroy()).on("data", (bytes) => near.write(bytes));
    near.on("data", (bytes) => {
      messages += 1;
      const isCut = cut !== undefined && messages >= cut.message;
      if (!isCut || cut?.when === "after") far.write(bytes);
      if (!isCut) return;
      cut = undefined;
      // the server gets the bytes, and its answer is lost
      near.destroy();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    port: (server.address() as AddressInfo).port,
    lead: (port) => {
      upstream = port;
      closeAll();
    },
    cutAt: (message, when) => void (cut = { message: messages + message, when }),
    get messages() {
      return messages;
    },
    close: () => {
      closeAll();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}
