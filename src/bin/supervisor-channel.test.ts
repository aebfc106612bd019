import { EventEmitter } from "node:events";
import { describe, expect, it, vi } from "vitest";
import { openSupervisorChannel, type ChannelPorts } from "./supervisor-channel.ts";

function fakeProcess({ connected = true }: { readonly connected?: boolean } = {}) {
  const sent: unknown[] = [];
  const process = Object.assign(new EventEmitter(), { connected, send: (message: unknown) => sent.push(message) > 0 });
  return { process, sent };
}

function open(process: object) {
  const calls: string[] = [];
  const exit = (code: number) => calls.push(`exit ${code}`);
  const channel = openSupervisorChannel({ process: process as ChannelPorts["process"], stop: () => calls.push("stop"), exit });
  return { channel, calls };
}

describe("the channel to the supervisor", () => {
  it("does not exist in a process that a user started", () => {
    expect(open(new EventEmitter()).channel).toBeUndefined();
  });

  it("sends and receives messages", () => {
    const { process, sent } = fakeProcess();
    const { channel } = open(process);
    const received: unknown[] = [];
    channel?.receive((message) => received.push(message));
    process.emit("message", { kind: "begin" });
    channel?.send({ kind: "ready" });
    process.connected = false;
    channel?.send({ kind: "lost" });
    expect([received, sent]).toEqual([[{ kind: "begin" }], [{ kind: "ready" }]]);
  });

  it.each([
    { name: "closes", connected: true },
    { name: "is closed from the beginning", connected: false },
  ])("stops the command when it $name, and ends a process that does not stop", ({ connected }) => {
    vi.useFakeTimers();
    try {
      const { process } = fakeProcess({ connected });
      const { calls } = open(process);
      if (connected) process.emit("disconnect");
      expect(calls).toEqual(["stop"]);
      vi.advanceTimersByTime(1_000);
      expect(calls).toEqual(["stop", "exit 143"]);
    } finally {
      vi.useRealTimers();
    }
  });
});
