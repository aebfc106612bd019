import { expect, test } from "vitest";
import { expectOk } from "#base";
import { localEndpoints } from "./local-endpoints.ts";

test("a cell on this machine gets three ports that differ", async () => {
  const { host, grpcPort, bootstrapPort, proxyPort } = expectOk(await localEndpoints());
  const ports = [grpcPort, bootstrapPort, proxyPort];
  expect(host).toBe("127.0.0.1");
  expect(new Set(ports).size).toBe(3);
  expect(ports.every((port) => port > 1023)).toBe(true);
});
