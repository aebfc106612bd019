/**
 * The OpenAPI documents of the embedded server, decoded with the types of k8s.io/kube-openapi, which kubectl, client-go and Go operators use.
 * The program is decode-openapi/; besides the built-in kinds there are those of Lattice, Cluster API and the mesh.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { latticeKinds } from "#crds";
import type { KubeObject } from "#kube";
import { projectRoot } from "../../scripts/process/project.ts";
import { ServerProcess, TOKEN } from "../builders/api-server/server-process.ts";
import { CLUSTER_API_CRDS, MESH_CRDS, publishedCrds, runProgram } from "./harness/index.ts";

const folder = join(projectRoot, "test/kube/decode-openapi");
let home = "";
let server: ServerProcess | undefined;
let url = "";

beforeAll(async () => {
  home = mkdtempSync(join(tmpdir(), "lattice-openapi-"));
  server = new ServerProcess(home);
  const address = await server.url();
  if (address === undefined) throw new Error(`the server did not start: ${server.stderr}`);
  url = address;
});
afterAll(async () => {
  await server?.kill();
  rmSync(home, { recursive: true, force: true });
});

async function define(crd: KubeObject): Promise<void> {
  const answer = await fetch(`${url}/apis/apiextensions.k8s.io/v1/customresourcedefinitions`, {
    method: "POST",
    headers: { authorization: `Bearer ${TOKEN}`, "content-type": "application/json" },
    body: JSON.stringify(crd),
  });
  expect([answer.status, crd.metadata.name], await answer.text()).toEqual([201, crd.metadata.name]);
}

test("the types of k8s.io/kube-openapi decode every OpenAPI document without loss", { timeout: 600_000 }, async ({ skip }) => {
  const go = (args: readonly string[], limitMs = 300_000) =>
    runProgram("go", ["-C", folder, ...args], { env: { ...process.env, GOWORK: "off", GOFLAGS: "", TOKEN }, limitMs });
  if ((await go(["version"])).code !== 0) skip("there is no Go on this machine");
  if ((await go(["mod", "download"])).code !== 0) skip("the Go modules cannot be fetched from here");
  const published = await publishedCrds([...CLUSTER_API_CRDS, ...MESH_CRDS]);
  if (!published.ok) console.log(`only Lattice's own kinds are checked: ${published.error}`);
  const crds = [...latticeKinds.map((kind) => kind.crd()), ...(published.ok ? published.value : [])];
  for (const crd of crds) await define(crd);
  const ran = await go(["run", ".", url]);
  expect(ran.stderr + ran.stdout).toMatch(/^\d+ models in v2, \d+ documents in v3, 0 problems\n$/);
});
