/** The life of one simulated cluster of Cluster API, as its phases and conditions change: the snapshot is the review. */
import { expect, test } from "vitest";
import { conditionsOf, textAt } from "./objects.ts";
import { localClusterYaml } from "../../../test/builders/capi-objects.ts";
import { isProvisioned } from "./capi-steps.test-support.ts";
import { CapiWorld, type CapiTestObject } from "./capi-world.test-support.ts";

const KINDS = [
  "Cluster",
  "LocalCluster",
  "KubeadmControlPlane",
  "MachineDeployment",
  "MachineSet",
  "Machine",
  "KubeadmConfig",
  "LocalMachine",
];
/** Names are generated: the first control-plane machine is "c1-cp-1". */
const aliases = (): ((text: string) => string) => {
  const known = new Map<string, string>();
  return (text) =>
    text.replace(/c1-(cp|md)-[a-z0-9]{5}(-[a-z0-9]{5})?/g, (name, role: string) => {
      const alias = known.get(name) ?? `c1-${role}-${[...known.values()].filter((one) => one.startsWith(`c1-${role}-`)).length + 1}`;
      known.set(name, alias);
      return alias;
    });
};

/** Conditions that a user follows. The others change too often to be read, and their intermediate values depend on the load of the computer. */
const SHOWN: ReadonlyMap<string, readonly string[]> = new Map([
  ["Cluster", ["InfrastructureReady", "ControlPlaneInitialized", "ControlPlaneAvailable", "Available", "Paused"]],
  ["KubeadmControlPlane", ["CertificatesAvailable", "Initialized", "Available", "RollingOut", "Paused"]],
  ["MachineDeployment", ["Available", "Paused"]],
  ["Machine", ["BootstrapConfigReady", "NodeHealthy", "Ready", "Available", "UpToDate", "Paused"]],
  ["KubeadmConfig", ["DataSecretAvailable"]],
  ["LocalMachine", ["Ready"]],
]);

/** Per chapter, one line per field: its values in order. Unknown is left out: it is short-lived. */
function storyOf(world: CapiWorld): { readonly text: () => string; readonly chapter: (title: string) => void } {
  const alias = aliases();
  const last = new Map<string, string>();
  const chapters: { readonly title: string; readonly fields: Map<string, string[]> }[] = [];
  const note = (key: string, value: string) => {
    if (last.get(key) === value || value.startsWith("Unknown")) return;
    last.set(key, value);
    const fields = chapters.at(-1)?.fields;
    fields?.set(key, [...(fields.get(key) ?? []), value]);
  };
  const seen = (object: CapiTestObject) => {
    const name = alias(`${object.kind} ${object.metadata.name}`);
    const phase = textAt(object, "status", "phase");
    if (phase !== undefined) note(`${name} phase`, phase);
    for (const { type, status, reason } of conditionsOf(object)) {
      if (SHOWN.get(object.kind)?.includes(type) === true) note(`${name} ${type}`, `${status} (${reason})`);
    }
  };
  for (const kind of KINDS) world.observe(kind, seen);
  const lineOf = ([key, values]: readonly [string, readonly string[]]) => `${key}: ${values.join(" → ")}`;
  return {
    chapter: (title) => void chapters.push({ title, fields: new Map() }),
    text: () => chapters.map(({ title, fields }) => [`## ${title}`, ...[...fields].map(lineOf).toSorted()].join("\n")).join("\n\n"),
  };
}

test("a cluster is created, scaled, upgraded and deleted", async () => {
  await using world = await CapiWorld.start();
  const { text, chapter } = storyOf(world);
  chapter("one control plane and one worker");
  await world.apply(localClusterYaml("c1", { workers: 1 }));
  await world.giveKubeconfig();
  await world.until(() => isProvisioned(world, 2));
  chapter("a second worker");
  await world.patch("MachineDeployment", "c1-md", { spec: { replicas: 2 } });
  await world.until(() => isProvisioned(world, 3));
  chapter("paused");
  await world.patch("Cluster", "c1", { spec: { paused: true } });
  await world.live(2_000, 1_000);
  await world.patch("Cluster", "c1", { spec: { paused: null } });
  await world.live(2_000, 1_000);
  chapter("the control plane gets v1.37.0");
  await world.patch("KubeadmControlPlane", "c1-cp", { spec: { version: "v1.37.0" } });
  await world.until(
    async () =>
      textAt(await world.read("KubeadmControlPlane", "c1-cp"), "status", "version") === "v1.37.0" && (await isProvisioned(world, 3)),
  );
  chapter("deleted");
  await world.delete("Cluster", "c1");
  await world.until(async () => (await world.all("Cluster")).length === 0);
  await expect(`${text()}\n`).toMatchFileSnapshot("story.txt");
});
