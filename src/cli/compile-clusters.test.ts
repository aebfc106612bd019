/** `lattice compile` and `lattice validate` on files with LatticeClusters. */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { expectOk } from "#base";
import { fieldAt, parseYaml, type KubeObject } from "#kube";
import { runCli } from "../../test/builders/cli-io.ts";
import { addFiles } from "../../test/builders/file-tree.ts";
import { serviceYaml } from "../../test/builders/world.ts";

const EXAMPLES = join(import.meta.dirname, "../../examples/clusters");
const example = (name: string) => readFileSync(join(EXAMPLES, `${name}.yaml`), "utf8");

let cwd: string;
beforeAll(async () => {
  cwd = mkdtempSync(join(tmpdir(), "lattice-clusters-"));
  await addFiles(cwd, {
    "both/cluster.yaml": example("local"),
    "both/service.yaml": serviceYaml("a"),
    "two.yaml": `${example("local")}---\n${example("azure")}`,
    "overlap.yaml": `${example("local")}  networking: {pods: {cidr: 10.96.0.0/16}}\n`,
    "misspelt.yaml": example("local").replace("workers", "wrokers"),
  });
});
afterAll(() => rmSync(cwd, { recursive: true }));

const run = (...argv: string[]) => runCli(argv, { cwd });
const objectsOf = (stdout: string) => expectOk(parseYaml(stdout)) as unknown as readonly KubeObject[];
const names = (stdout: string) => objectsOf(stdout).map(({ kind, metadata }) => `${kind} ${metadata.name}`);

describe("the examples of clusters", () => {
  it.each(["docker", "local", "aws", "gcp", "azure"])("%s is valid and compiles, with a note about the bootstrap script", async (name) => {
    const file = join(EXAMPLES, `${name}.yaml`);
    expect(await run("validate", "-f", file)).toMatchObject({ code: 0 });
    const { code, stdout, stderr } = await run("compile", "-f", file);
    expect({ code, stderr }).toEqual({
      code: 0,
      stderr: expect.stringMatching(
        /^note: LatticeCluster [a-z-]+: the script that connects .*; the cell adds it when it creates the cluster\n$/,
      ) as string,
    });
    expect(objectsOf(stdout).some(({ kind }) => kind === "KubeadmControlPlane")).toBe(true);
  });
});

describe("lattice compile", () => {
  it("compiles services and clusters together", async () => {
    const { code, stdout } = await run("compile", "-f", "both");
    expect(code).toBe(0);
    expect(names(stdout)).toEqual(expect.arrayContaining(["Deployment a", "Cluster dev", "Namespace capi-dev"]));
  });

  it("leaves out namespaces with --workloads-only", async () => {
    const { stdout } = await run("compile", "-f", "both", "--workloads-only");
    expect(names(stdout).filter((name) => name.startsWith("Namespace "))).toEqual([]);
  });

  it("compiles several clusters of one file, without replicas that an autoscaler sets", async () => {
    const { stdout } = await run("compile", "-f", "two.yaml");
    expect(names(stdout)).toEqual(expect.arrayContaining(["Cluster dev", "Cluster office"]));
    const general = objectsOf(stdout).find(({ kind, metadata }) => kind === "MachineDeployment" && metadata.name === "office-general");
    expect(fieldAt(general, "spec")).not.toHaveProperty("replicas");
  });

  it("prints no object and the place of the mistake for a cluster that cannot work", async () => {
    const { code, stdout, stderr } = await run("compile", "-f", "overlap.yaml");
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    expect(stderr).toContain("error overlap.yaml:14:");
    expect(stderr).toContain("spec.networking.pods.cidr: overlaps: the pod network 10.96.0.0/16 and the service network");
  });

  it("does not compile a cluster whose document has a mistake", async () => {
    const { code, stderr } = await run("compile", "-f", "misspelt.yaml");
    expect(code).toBe(1);
    expect(stderr).toContain("wrokers");
    expect(stderr).not.toContain("note:");
  });

  it("writes one file per object", async () => {
    const { code, stdout } = await run("compile", "-f", "both/cluster.yaml", "-o", "dir", "--out", "compiled");
    expect({ code, stdout }).toEqual({ code: 0, stdout: "10 objects in compiled\n" });
    expect(readFileSync(join(cwd, "compiled/capi-dev/cluster-dev.yaml"), "utf8")).toContain("kind: Cluster");
  });
});
