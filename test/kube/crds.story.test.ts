/**
 * Lattice's CRDs on a real API server: every schema is accepted, users can find the kinds, and the server sets the same defaults as the
 * parser. Rejected objects are in crds-refusals.story.test.ts.
 */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { expectOk } from "#base";
import { LATTICE_API_VERSION, LATTICE_GROUP, latticeKinds, parseLatticeObject } from "#crds";
import { describeObject, fieldAt, keyOf, parseYaml, pathOf, type Json, type KubeObject } from "#kube";
import { installLatticeCrds, sharedPlane, uniqueName, type PlaneAccess, type Ran } from "./harness/index.ts";

const CRD_PATH = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const project = fileURLToPath(new URL("../..", import.meta.url));
const shipped = yamlFiles("deploy/crds");
const examples = yamlFiles("examples");
const kinds = latticeKinds.map((kind) => ({ name: kind.kind, given: kind }));

let plane: PlaneAccess;
let applied: Ran;

beforeAll(async () => {
  plane = sharedPlane();
  applied = await installLatticeCrds(plane);
});

describe("the CRDs of Lattice", () => {
  test("are applied by kubectl without a warning", () => {
    expect(applied.stderr).toBe("");
  });

  test.each(kinds)("are accepted without a Warning header: $name", async ({ given }) => {
    const manifest = given.crd();
    const path = `${CRD_PATH}/${manifest.metadata.name}?fieldManager=story&force=true&fieldValidation=Strict&dryRun=All`;
    const answer = await plane.request({ method: "PATCH", path, body: manifest, contentType: "application/apply-patch+yaml" });
    expect(answer.code, answer.text).toBe(200);
    expect(answer.warnings).toEqual([]);
  });

  test.each(kinds)("are established, and structural: $name", async ({ given }) => {
    const stored = (await plane.request({ path: `${CRD_PATH}/${given.crd().metadata.name}` })).json();
    const conditions = fieldAt(stored, "status", "conditions") as readonly { readonly type: string; readonly status: string }[];
    const holding = conditions.filter(({ status }) => status === "True").map(({ type }) => type);
    expect(holding.toSorted()).toEqual(["Established", "NamesAccepted"]);
  });

  test("are shipped in deploy/crds, one file per kind", () => {
    expect(shipped).toHaveLength(latticeKinds.length);
  });

  test.each(shipped)("are accepted without a warning as they are shipped: $name", async ({ given }) => {
    const ran = await plane.kubectl(["apply", "--server-side", "--validate=strict", "-f", given]);
    expect(ran).toMatchObject({ code: 0, stderr: "" });
  });
});

describe("users who look for the kinds", () => {
  test("find them in discovery by plural, short name and category", async () => {
    const discovered = await plane.kubectlOk(["api-resources", `--api-group=${LATTICE_GROUP}`, "--no-headers", "-o", "wide"]);
    const seen = discovered
      .trimEnd()
      .split("\n")
      .map((line) => line.split(/\s+/));
    for (const { plural, kind, namespaced, shortName } of latticeKinds) {
      const verbs: unknown = expect.stringContaining("watch");
      expect(seen).toContainEqual([plural, shortName, LATTICE_API_VERSION, String(namespaced), kind, verbs, "lattice"]);
    }
    expect(seen).toHaveLength(latticeKinds.length);
  });

  test.each(kinds)("see its printer columns: $name", async ({ given }) => {
    const table = await plane.request({ path: pathOf(given.resource), accept: "application/json;as=Table;v=v1;g=meta.k8s.io" });
    const shown = fieldAt(table.json(), "columnDefinitions") as readonly { readonly name: string }[];
    const columns = given.crd().spec.versions.flatMap((version) => version.additionalPrinterColumns.map(({ name }) => name));
    expect(shown.map(({ name }) => name)).toEqual(["Name", ...columns]);
  });

  test("get all of Lattice with `kubectl get lattice`, and one kind by its short name, with its columns", async () => {
    const name = uniqueName("columns");
    await createCluster(name);
    expect(await plane.kubectlOk(["get", "lattice", "-o", "name"])).toContain(`latticecluster.lattice.dev/${name}\n`);
    const status = JSON.stringify({ status: { phase: "Pending" } });
    await plane.kubectlOk(["patch", "lc", name, "--subresource=status", "--type=merge", "-p", status]);
    const row = await plane.kubectlOk(["get", "lc", name, "--no-headers"]);
    expect(row.split(/\s+/)).toEqual(expect.arrayContaining([name, "Pending", "docker"]));
  });

  test.each(kinds)("read its description: kubectl explain $name", async ({ given }) => {
    const explained = await plane.kubectlOk(["explain", given.plural]);
    expect(withoutBreaks(explained)).toContain(given.purpose);
  });

  test("read a description of every field of latticecluster.spec.provider", async () => {
    const explained = withoutBreaks(await plane.kubectlOk(["explain", "latticecluster.spec.provider"]));
    const rows = latticeKinds.find(({ kind }) => kind === "LatticeCluster")?.fields() ?? [];
    const described = rows.filter(({ path }) => /^spec\.provider(\.\w+)?$/.test(path));
    expect(described.length).toBeGreaterThan(3);
    for (const { description } of described) expect(explained).toContain(description);
  });
});

describe("the files of examples/", () => {
  test("include every kind", () => {
    const shown = examples.flatMap(({ given }) => readObjects(given).map(({ kind }) => kind));
    expect(shown).toEqual(expect.arrayContaining(latticeKinds.map(({ kind }) => kind)));
  });

  test.each(examples)("are accepted under strict validation, and get the same defaults as from the parser: $name", async ({ given }) => {
    const objects = readObjects(given);
    await makeNamespaces(objects);
    onTestFinished(async () => void (await plane.kubectlOk(["delete", "--ignore-not-found", "--wait=true", "-f", given])));
    const ran = await plane.kubectl(["apply", "--server-side", "--validate=strict", "-f", given]);
    expect(ran).toMatchObject({ code: 0, stderr: "" });
    for (const object of objects.filter(({ apiVersion }) => apiVersion === LATTICE_API_VERSION)) {
      const parsed: unknown = expectOk(parseLatticeObject(object));
      expect(fieldAt(await readStored(object), "spec"), describeObject(object)).toEqual(fieldAt(parsed, "spec"));
    }
  });
});

/** Rows for all YAML files of a folder of the project, recursively. */
function yamlFiles(folder: string): readonly { readonly name: string; readonly given: string }[] {
  if (!existsSync(join(project, folder))) return [];
  const files = readdirSync(join(project, folder), { recursive: true, encoding: "utf8" }).filter((file) => /\.ya?ml$/.test(file));
  const named = files.toSorted().map((file) => ({ name: join(folder, file), given: join(project, folder, file) }));
  // Score files are not for an API server
  return named.filter(({ given }) => !readFileSync(given, "utf8").includes("apiVersion: score.dev/"));
}

function readObjects(file: string): readonly KubeObject[] {
  return expectOk(parseYaml(readFileSync(file, "utf8"))) as unknown as readonly KubeObject[];
}

async function createCluster(name: string): Promise<void> {
  const spec = { provider: { type: "docker", kubernetes: { version: "1.36.3" } }, nodes: { controlPlane: 1, workers: 2 } };
  const cluster = { apiVersion: LATTICE_API_VERSION, kind: "LatticeCluster", metadata: { name }, spec };
  await plane.kubectlOk(["create", "-f", "-"], { stdin: JSON.stringify(cluster) });
  onTestFinished(async () => void (await plane.kubectlOk(["delete", "lc", name])));
}

async function makeNamespaces(objects: readonly KubeObject[]): Promise<void> {
  for (const namespace of new Set(objects.flatMap(({ metadata }) => metadata.namespace ?? []))) {
    const body = { apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } };
    const made = await plane.request({ method: "POST", path: "/api/v1/namespaces", body });
    expect([201, 409], made.text).toContain(made.code);
  }
}

async function readStored(object: KubeObject): Promise<Json> {
  const kind = latticeKinds.find((candidate) => candidate.kind === object.kind);
  if (kind === undefined) throw new Error(`${object.kind} is not a kind of Lattice`);
  const { name, namespace = kind.namespaced ? "default" : undefined } = keyOf(object);
  const answer = await plane.request({ path: pathOf(kind.resource, { name, namespace }) });
  expect(answer.code, answer.text).toBe(200);
  return answer.json();
}

/** kubectl wraps descriptions into lines. */
function withoutBreaks(text: string): string {
  return text.replaceAll(/\s+/g, " ");
}
