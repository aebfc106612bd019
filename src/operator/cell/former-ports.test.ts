import { createServer, connect, type AddressInfo, type Server } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { createLogger, silentLogger } from "#base";
import type { EndpointsSpec } from "#controllers";
import { freePorts } from "../../../test/builders/two-clusters.ts";
import { formerPorts, openFormerPorts } from "./former-ports.ts";

const at = (host: string, grpcPort: number, bootstrapPort: number): EndpointsSpec => ({
  host,
  grpcPort,
  bootstrapPort,
  proxyPort: 3,
  service: { type: "ClusterIP" },
});
const bind = (host: string) => (host.startsWith("127.") ? host : "0.0.0.0");
const portsOf = (current: EndpointsSpec, ...former: readonly EndpointsSpec[]) =>
  formerPorts({ current, former, isRemoved: false }, bind).map(({ host, port, to }) => `${host}:${port} > ${to.host}:${to.port}`);

test.each([
  { name: "none for another name", current: at("b.example.com", 1, 2), former: [at("a.example.com", 1, 2)], want: [] },
  {
    name: "those that differ",
    current: at("a.example.com", 11, 2),
    former: [at("a.example.com", 1, 2)],
    want: ["0.0.0.0:1 > 127.0.0.1:11"],
  },
  { name: "each once", current: at("a", 11, 2), former: [at("a", 1, 2), at("b", 1, 2)], want: ["0.0.0.0:1 > 127.0.0.1:11"] },
  { name: "none that has another use now", current: at("a", 11, 1), former: [at("a", 1, 2)], want: ["0.0.0.0:2 > 127.0.0.1:1"] },
  {
    name: "those of another loopback address",
    current: at("127.0.0.2", 1, 2),
    former: [at("127.0.0.1", 1, 2)],
    want: ["127.0.0.1:1 > 127.0.0.2:1", "127.0.0.1:2 > 127.0.0.2:2", "127.0.0.1:3 > 127.0.0.2:3"],
  },
])("former ports are $name", ({ current, former, want }) => {
  expect(portsOf(current, ...former)).toEqual(want);
});

function listen(server: Server): Promise<number> {
  return new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve((server.address() as AddressInfo).port)));
}

test("what connects to a former port reaches the present one; a port that is taken is logged", async () => {
  const echo = createServer((socket) => socket.pipe(socket));
  const to = { host: "127.0.0.1", port: await listen(echo) };
  const [port = 0] = await freePorts(1);
  const lines: string[] = [];
  const logger = createLogger((level, message) => void lines.push(`${level} ${message}`));
  const first = await openFormerPorts([{ host: "127.0.0.1", port, to }], silentLogger);
  const second = await openFormerPorts([{ host: "127.0.0.1", port, to }], logger);
  onTestFinished(async () => {
    await second.close();
    await new Promise((resolve) => echo.close(resolve));
  });
  expect(lines).toEqual(["warn a former port of the cell cannot be served"]);
  const client = connect(port, "127.0.0.1");
  const answer = new Promise<string>((resolve) => client.once("data", (data) => resolve(data.toString())));
  client.write("hello");
  expect(await answer).toBe("hello");
  const ended = new Promise((resolve) => client.once("close", resolve));
  await first.close();
  await ended;
});
