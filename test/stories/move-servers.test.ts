/**
 * `lattice move` while API servers are killed and connections are cut: each server, and both, with SIGKILL at every step, and the connection at
 * every message. Here a seeded part, all of it in `npm run test:long`; LATTICE_CRASH_POINT='source killed at "pausing"' runs one. Afterwards there is one owner,
 * all objects are equal, and nothing is paused.
 */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { mkdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { expectOk } from "#base";
import { providerInventory, reducedCapiCrds } from "#bundle";
import { capiClusters, customResourceDefinitions, capiProviders, fieldAt, namespaces, type Json, type KubeObject } from "#kube";
import type { KubeClient } from "#kube-client";
import { ServerProcess, TOKEN } from "../builders/api-server/server-process.ts";
import { chosenPoints } from "../builders/crash-points.ts";
import { clientOf } from "../builders/kubeconfig-client.ts";
import { runMoveProcess, type MoveProcessResult } from "../builders/move-process.ts";
import { contentsOf, danglingOwners, makeProvisioned } from "../builders/move-world.ts";
import { switchedRelay, type SwitchedRelay } from "../builders/switched-relay.ts";

const SEED = 16;
/** In `npm test`, of several hundred. */
const FEW_CUTS = 3;
const LEASE = ["--lease", "5s"];
const ATTEMPTS = 8;
const STEPS = [
  "checking",
  "registering",
  "pausing",
  "copying",
  "comparing",
  "announcing",
  "committing",
  "the target owns",
  "unpausing",
  "deleting",
  "finishing",
];

/** An API server process behind a relay: its address stays when it is started again. */
class MortalServer {
  readonly home: string;
  readonly relay: SwitchedRelay;
  readonly kubeconfig: string;
  readonly client: KubeClient;
  #process: ServerProcess;

  private constructor(home: string, relay: SwitchedRelay, client: KubeClient) {
    [this.home, this.relay, this.client, this.kubeconfig] = [home, relay, client, join(home, "kubeconfig")];
    this.#process = new ServerProcess(home);
  }

  static async start(home: string): Promise<MortalServer> {
    mkdirSync(home, { recursive: true });
    const relay = await switchedRelay();
    const text = JSON.stringify({
      apiVersion: "v1",
      kind: "Config",
      "current-context": "c",
      clusters: [{ name: "c", cluster: { server: `http://127.0.0.1:${relay.port}` } }],
      users: [{ name: "u", user: { token: TOKEN } }],
      contexts: [{ name: "c", context: { cluster: "c", user: "u" } }],
    });
    const server = new MortalServer(home, relay, await clientOf(text));
    await writeFile(server.kubeconfig, text, { mode: 0o600 });
    await server.#ready();
    return server;
  }

  async #ready(): Promise<void> {
    const url = (await this.#process.url()) ?? expect.fail(this.#process.stderr);
    this.relay.lead(Number(new URL(url).port));
  }

  async killAndStart(): Promise<void> {
    await this.#process.kill();
    this.#process = new ServerProcess(this.home);
    await this.#ready();
  }

  async close(): Promise<void> {
    await this.client.close();
    await this.#process.kill();
    await this.relay.close();
  }
}

let folder = "";
let servers: readonly [MortalServer, MortalServer] | undefined;
const both = () => servers ?? expect.fail("no servers");

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "lattice-move-servers-"));
  servers = [await MortalServer.start(join(folder, "a")), await MortalServer.start(join(folder, "b"))];
  for (const { client } of both()) await installKinds(client);
  await makeProvisioned(both()[0].client, "c1", 1);
}, 120_000);

afterAll(async () => {
  for (const server of servers ?? []) await server.close();
  await rm(folder, { recursive: true, force: true });
});

async function installKinds(client: KubeClient): Promise<void> {
  for (const crd of reducedCapiCrds("docker")) expectOk(await client.create(customResourceDefinitions, crd));
  for (const provider of providerInventory("docker")) {
    const name = provider.metadata.namespace ?? "default";
    await client.create(namespaces, { apiVersion: "v1", kind: "Namespace", metadata: { name } });
    if (provider.kind === "Provider") expectOk(await client.create(capiProviders, provider));
  }
}

async function isUnpaused({ client }: MortalServer): Promise<boolean> {
  const found = await client.get<KubeObject>(capiClusters, { namespace: "c1", name: "c1" });
  return found.ok && fieldAt(found.value, "spec", "paused") !== true;
}

/** Reads both sides again and again while a move runs. */
class OwnerObserver {
  readonly wrong: string[] = [];
  #ended = false;
  readonly #running: Promise<void>;
  readonly #label: string;

  constructor(label: string) {
    this.#label = label;
    this.#running = this.#observe();
  }

  async #observe(): Promise<void> {
    while (!this.#ended) {
      const [a, b] = both();
      // the first read is repeated: an owner may have changed between two reads
      if ((await isUnpaused(a)) && (await isUnpaused(b)) && (await isUnpaused(a)))
        this.wrong.push(`${this.#label}: both sides are unpaused`);
    }
  }

  async end(): Promise<void> {
    this.#ended = true;
    await this.#running;
  }
}

async function finish(from: MortalServer, to: MortalServer): Promise<MoveProcessResult> {
  for (let attempt = 1; ; attempt += 1) {
    const result = await runMoveProcess({ from: from.kubeconfig, to: to.kubeconfig, namespace: "c1", flags: LEASE });
    if (result.code === 0 || attempt === ATTEMPTS) return result;
  }
}

type Disturbance = { readonly name: string; readonly run: (from: MortalServer, to: MortalServer) => Promise<void> };

function atStep(step: string, which: "source" | "target" | "both"): Disturbance {
  const run = async (from: MortalServer, to: MortalServer) => {
    let restarting: Promise<unknown> | undefined;
    const kill = () =>
      Promise.all((which === "both" ? [from, to] : [which === "source" ? from : to]).map((server) => server.killAndStart()));
    const killAt = (line: string) => {
      if (restarting === undefined && line.startsWith(step)) restarting = kill();
      return false;
    };
    await runMoveProcess({ from: from.kubeconfig, to: to.kubeconfig, namespace: "c1", flags: LEASE, killAt });
    await restarting;
  };
  return { name: `${which} killed at "${step}"`, run };
}

function cutAt(message: number, which: "source" | "target", when: "before" | "after"): Disturbance {
  const run = async (from: MortalServer, to: MortalServer) => {
    (which === "source" ? from : to).relay.cutAt(message, when);
    await runMoveProcess({ from: from.kubeconfig, to: to.kubeconfig, namespace: "c1", flags: LEASE });
  };
  return { name: `connection to the ${which} cut ${when} message ${message}`, run };
}

test(
  "API servers that are killed and connections that are cut: one owner at all times, and every object arrives",
  { timeout: 3_600_000 },
  async () => {
    const [a, b] = both();
    const expected = await movedContents(a);
    const counts = [a.relay.messages, b.relay.messages] as const;
    expect((await finish(a, b)).code).toBe(0);
    const messages = { source: a.relay.messages - counts[0], target: b.relay.messages - counts[1] };
    const kills = STEPS.flatMap((step) => (["source", "target", "both"] as const).map((which) => atStep(step, which)));
    const cuts = (["source", "target"] as const).flatMap((which) =>
      Array.from({ length: messages[which] }, (_, at) => cutAt(at + 1, which, at % 2 === 0 ? "before" : "after")),
    );
    const nameOf = ({ name }: Disturbance) => name;
    const chosen = [...chosenPoints(kills, nameOf, SEED), ...chosenPoints(cuts, nameOf, SEED + 3, (100 * FEW_CUTS) / cuts.length)];
    expect(chosen.length).toBeGreaterThan(0);
    let [from, to] = [b, a];
    for (const { name, run } of chosen) {
      const observer = new OwnerObserver(name);
      await run(from, to);
      const finished = await finish(from, to);
      await observer.end();
      expect(finished.code, `${name}\n${finished.stderr}`).toBe(0);
      expect(observer.wrong).toEqual([]);
      expect(await movedContents(to), name).toEqual(expected);
      expect([...(await movedContents(from)).keys()], name).toEqual([]);
      expect(await danglingOwners(to.client, "c1"), name).toEqual([]);
      expect(await isUnpaused(to), name).toBe(true);
      [from, to] = [to, from];
    }
  },
);

/** No controller runs, so none observes the generations that pausing makes. */
async function movedContents({ client }: MortalServer): Promise<ReadonlyMap<string, Json>> {
  const all = [...(await contentsOf(client, "c1"))].filter(([name]) => name !== "Secret c1/unrelated");
  const hidden = new Set(["observedGeneration", "time"]);
  const plain = (object: Json) =>
    JSON.parse(JSON.stringify(object, (name, inner: unknown) => (hidden.has(name) ? undefined : inner))) as Json;
  return new Map(all.map(([name, object]) => [name, plain(object)]));
}
