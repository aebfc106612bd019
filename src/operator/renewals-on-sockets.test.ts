/** Certificates of agents with real TLS: lives of seconds, expired ones, a replaced authority, wrong clocks, lost answers. */
import { afterEach, describe, expect, test } from "vitest";
import { expectOk, systemClock } from "#base";
import { deafRelay } from "../../test/builders/deaf-relay.ts";
import { SocketCell, type SocketCellOptions } from "./socket-cell.test-support.ts";
import { skewed } from "./renewal-world.test-support.ts";

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

const cells: SocketCell[] = [];
afterEach(async () => {
  for (const cell of cells.splice(0)) await cell.close();
});

async function openCell(options: SocketCellOptions = {}): Promise<SocketCell> {
  const cell = await SocketCell.open(options);
  cells.push(cell);
  return cell;
}

const countOf = (cell: SocketCell, message: string) => cell.lines.filter((line) => line.message === message).length;
const answered = (cell: SocketCell, endpoint: string) =>
  cell.lines.filter(({ fields }) => fields["endpoint"] === endpoint && fields["outcome"] === "ok").length;

test(
  "certificates of seconds are renewed over the stream, and with a signed request when they have expired",
  { timeout: 60_000 },
  async () => {
    const cell = await openCell({ lifeMs: 6_000 });
    await cell.listen();
    await cell.register("prod");
    const agent = cell.startAgent("prod");
    await cell.until(() => cell.isConnected("prod"));
    const ends = new Set<string | undefined>();
    cell.listeners.link.subscribe(() => {
      const view = cell.listeners.link.agents().get("prod");
      if (view?.connected === false) ends.add(view.lastCloseReason);
    });
    await cell.until(() => countOf(cell, "the certificate was renewed") >= 2 && cell.isConnected("prod"));
    expect([...ends]).toEqual(["the agent ended the stream"]); // to open the next with the new certificate
    expect(answered(cell, "renew")).toBe(0);

    await cell.stopListening();
    await cell.until(() => countOf(cell, "the expired certificate of the agent was not renewed, and is tried again") > 0);
    expect(agent.uplink.current?.connected).toBe(false);
    await cell.listen();
    await cell.until(() => cell.isConnected("prod"));
    expect(answered(cell, "renew")).toBeGreaterThan(0);
  },
);

describe("a parent that is back after six weeks", () => {
  test(
    "gets all 100 agents back without a person, but not one that was revoked, or whose certificate is too old",
    { timeout: 120_000 },
    async () => {
      const cell = await openCell({ offsetMs: -125 * DAY, authorityAgeMs: 0 });
      await cell.listen(); // for the ports
      await cell.stopListening();
      await cell.enroll("too-old");
      await cell.setOffset(-42 * DAY);
      const names = Array.from({ length: 100 }, (_, at) => `child-${at}`);
      for (const name of [...names, "revoked"]) await cell.enroll(name);
      expectOk(await cell.registrations.revoke("revoked"));

      await cell.setOffset(0);
      await cell.listen();
      const [tooOld, revoked] = [cell.startAgent("too-old"), cell.startAgent("revoked")];
      for (const name of names) cell.startAgent(name);
      await cell.until(() => names.every((name) => cell.isConnected(name)));
      expect(answered(cell, "csr")).toBe(0);
      expect(answered(cell, "renew")).toBe(100);

      await cell.until(() => [tooOld, revoked].every(({ uplink }) => uplink.current?.lastCloseReason?.includes("expired at") === true));
      expect([cell.isConnected("too-old"), cell.isConnected("revoked")]).toEqual([false, false]);
      expect(tooOld.uplink.current?.lastCloseReason).toContain(
        "more than 90 days ago, and can no longer be renewed; for a new one, run: lattice reparent too-old --kubeconfig",
      );
      expect(revoked.uplink.current?.lastCloseReason).toContain("it was revoked, or the cluster was deleted there");
      const reasons = cell.lines
        .filter(({ fields }) => fields["cluster"] === "too-old" && fields["endpoint"] === "renew")
        .map(({ fields }) => fields["reason"]);
      expect(reasons).toContain("the certificate expired more than 90 days ago; the cluster needs a new bootstrap token");
    },
  );
});

test(
  "the authority is replaced: connected agents continue, and one that has only the old authority returns",
  { timeout: 60_000 },
  async () => {
    const successorAge = Math.floor(0.8 * 3_652) * DAY + DAY;
    const cell = await openCell({ offsetMs: -52 * DAY, authorityAgeMs: successorAge - 22 * DAY });
    await cell.listen(); // for the ports
    await cell.stopListening();
    await cell.enroll("offline");
    const old = cell.certificates.authorities.current.certificate;
    expect(cell.certificates.authorities.successor).toBeUndefined();

    await cell.setOffset(-30 * DAY + HOUR);
    expect(cell.certificates.authorities.successor).toBeDefined();
    await cell.listen();
    const names = ["a", "b", "c"];
    for (const name of names) {
      await cell.register(name);
      cell.startAgent(name);
    }
    await cell.until(() => names.every((name) => cell.isConnected(name)));

    await cell.setOffset(HOUR + 60_000);
    expect(cell.certificates.authorities.current.certificate).not.toBe(old);
    // their certificates are of the old authority, and due
    await cell.until(() => countOf(cell, "the certificate was renewed") >= 3 && names.every((name) => cell.isConnected(name)));
    cell.startAgent("offline");
    await cell.until(() => cell.isConnected("offline"));
    // at least its own: one of the others renews by a request too if it loses its connection meanwhile
    expect(answered(cell, "renew")).toBeGreaterThan(0);
    await cell.register("new");
    cell.startAgent("new");
    await cell.until(() => cell.isConnected("new"));
  },
);

describe("wrong clocks", () => {
  const rows = [
    { name: "the cell an hour fast, the agent right", cellMs: HOUR, agentMs: 0 },
    { name: "the cell an hour slow, the agent right", cellMs: -HOUR, agentMs: 0 },
    { name: "the cell right, the agent an hour fast", cellMs: 0, agentMs: HOUR },
    { name: "the cell right, the agent an hour slow", cellMs: 0, agentMs: -HOUR },
  ];

  test.each(rows)("$name: registers, connects, and renews an expired certificate", async ({ cellMs, agentMs }) => {
    const cell = await openCell({ offsetMs: -40 * DAY + cellMs });
    await cell.listen(); // for the ports
    await cell.stopListening();
    await cell.enroll("expired");
    await cell.setOffset(cellMs);
    await cell.listen();
    await cell.register("new");
    const clock = skewed(systemClock, agentMs);
    for (const name of ["expired", "new"]) cell.startAgent(name, clock);
    await cell.until(() => ["expired", "new"].every((name) => cell.isConnected(name)));
    expect([answered(cell, "renew"), answered(cell, "csr")]).toEqual([1, 1]);
  });
});

describe("lost on the wire", () => {
  test("answers to csr and to renew: the agents ask again and connect", { timeout: 60_000 }, async () => {
    const cell = await openCell({ offsetMs: -40 * DAY });
    await cell.listen(); // for the ports
    await cell.stopListening();
    const relay = await deafRelay(cell.bootstrapPort);
    try {
      await cell.enroll("expired", relay.port);
      await cell.setOffset(0);
      await cell.listen();
      await cell.register("new", relay.port);
      relay.lose(2);
      const agent = cell.startAgent("new");
      await cell.until(() => cell.isConnected("new"));
      expect(agent.errors).toHaveLength(2);
      expect(answered(cell, "csr")).toBe(3);
      relay.lose(2);
      cell.startAgent("expired");
      await cell.until(() => cell.isConnected("expired"));
      expect(answered(cell, "renew")).toBe(3);
    } finally {
      await relay.close();
    }
  });
});
