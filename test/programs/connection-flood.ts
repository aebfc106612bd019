/**
 * Opens connections to a port of 127.0.0.1 as fast as the system allows, and keeps each one until the server closes it. A third is silent, a third sends
 * bytes that are not TLS, a third sends the first half of a ClientHello. Prints a line of JSON when all are closed.
 *
 * They come from many loopback addresses, where the system has them: a server may limit each address.
 */
import { connect, type Socket } from "node:net";
import { platform } from "node:process";

const [port = 0, count = 0] = process.argv.slice(2).map(Number);
if (port === 0 || count === 0) throw new Error("usage: connection-flood PORT COUNT");

const ADDRESSES = platform === "linux" ? 64 : 1;
/** A TLS record of 512 bytes, of which only the header and the beginning of a ClientHello follow. */
const HALF_HELLO = Buffer.from([0x16, 0x03, 0x01, 0x02, 0x00, 0x01, 0x00, 0x01, 0xfc, 0x03, 0x03]);
const FIRST_BYTES: readonly (Buffer | string)[] = ["", "GET / HTTP/1.1\r\nhost: x\r\n\r\n", HALF_HELLO];

const totals = { opened: 0, failed: 0, closed: 0, mostAtOnce: 0 };
let open = 0;

function start(at: number): Socket {
  const address = ADDRESSES === 1 ? {} : { localAddress: `127.0.1.${1 + (at % ADDRESSES)}` };
  const socket = connect({ port, host: "127.0.0.1", ...address });
  let isOpen = false;
  socket.once("connect", () => {
    isOpen = true;
    totals.opened += 1;
    open += 1;
    totals.mostAtOnce = Math.max(totals.mostAtOnce, open);
    const first = FIRST_BYTES[at % FIRST_BYTES.length] ?? "";
    if (first.length > 0) socket.write(first);
  });
  socket.on("error", () => {});
  socket.on("data", () => {});
  socket.once("close", () => {
    if (isOpen) open -= 1;
    totals[isOpen ? "closed" : "failed"] += 1;
    if (totals.closed + totals.failed < count) return;
    process.stdout.write(`${JSON.stringify(totals)}\n`);
    process.exit();
  });
  return socket;
}

const sockets = Array.from({ length: count }, (_, at) => start(at));
// a connection that the system dropped from the queue of the server is open here until something is sent
setTimeout(() => setInterval(probe, 1_000), 10_000);

function probe(): void {
  for (const socket of sockets) if (!socket.destroyed) socket.write("\0");
}
