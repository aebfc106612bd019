/**
 * A sensitive value in every field with templates, in every command: it is in the `data` of the Secrets that `compile` prints, and in no
 * other output or error.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { expectOk } from "#base";
import { formatYaml, parseYaml, type KubeObject } from "#kube";
import { runCli } from "../../test/builders/cli-io.ts";
import { findTemplateFields } from "../../test/builders/template-fields.ts";

const CANARY = "c4n4ry/p@ss w0rd";
const FORMS = [
  CANARY,
  "c4n4ry",
  encodeURIComponent(CANARY),
  Buffer.from(CANARY).toString("base64").replaceAll("=", ""),
  Buffer.from("c4n4ry").toString("hex"),
];
const SECRET = "${resources.db.connection_string}";

let cwd: string;
beforeAll(() => {
  cwd = mkdtempSync(join(tmpdir(), "lattice-leaks-"));
  writeFileSync(join(cwd, "secrets.yaml"), formatYaml({ "postgres/db/password": CANARY, "own/key": CANARY }));
  writeFileSync(join(cwd, "text.txt"), `a ${SECRET}`);
});
afterAll(() => rmSync(cwd, { recursive: true }));

type Row = { readonly name: string; readonly field: string; readonly container?: object; readonly resources?: object };

const rows: readonly Row[] = [
  {
    name: "a variable",
    field: "containers.*.variables.*",
    container: { variables: { A: SECRET, B: `x${SECRET}`, C: "${secrets.own.key}" } },
  },
  {
    name: "a variable beside a mistake",
    field: "containers.*.variables.*",
    container: { variables: { A: `${SECRET}\${config.nothing}` } },
  },
  {
    name: "a variable without a closing brace",
    field: "containers.*.variables.*",
    container: { variables: { A: `${SECRET}\${config.` } },
  },
  { name: "a file", field: "containers.*.files.*.content", container: { files: { "/f": { content: `a\n${SECRET}` } } } },
  { name: "a file from elsewhere", field: "containers.*.files.*.source", container: { files: { "/f": { source: "text.txt" } } } },
  { name: "a volume", field: "containers.*.volumes.*.source", container: { volumes: { "/v": { source: `pvc:${SECRET}` } } } },
  ...["port", "database", "username", "nothing"].map((param) => ({
    name: `params.${param}`,
    field: "resources.*.params",
    container: { variables: { A: "${resources.other.url}" } },
    resources: { other: { type: "postgres", id: "db", params: { [param]: SECRET } } },
  })),
  { name: "a route's host", field: "resources.*.params", resources: { public: { type: "route", params: { host: SECRET } } } },
  {
    name: "ports of a caller",
    field: "resources.*.params",
    resources: { b: { direction: "inbound", params: { ports: [SECRET], paths: SECRET } } },
  },
];

function documents({ container = {}, resources = {} }: Row, image = "a:1"): string {
  const kind = (name: string, spec: object, more = "LatticeService") =>
    `---\n${formatYaml({ apiVersion: "lattice.dev/v1alpha1", kind: more, metadata: { name, namespace: "shop" }, spec })}`;
  const service = { ports: { http: { port: 80 } } };
  const a = { containers: { main: { image, ...container } }, service, resources: { db: { type: "postgres" }, ...resources } };
  const b = { containers: { main: { image: "b:1" } }, service, resources: { a: { direction: "both" } } };
  return kind("a", a) + kind("b", b) + kind("own", { bindings: { own: { secretRef: { name: "own" } } } }, "LatticeSecretBindings");
}

/** Secrets without their data. */
function withoutData(text: string): string {
  const parsed = parseYaml(text);
  if (!parsed.ok) return text;
  const all = parsed.value as unknown as readonly (KubeObject & { readonly items?: readonly KubeObject[] })[];
  return JSON.stringify(
    all.flatMap((one) => one.items ?? [one]).map((object) => (object.kind === "Secret" ? { ...object, data: {} } : object)),
  );
}

describe.each(rows)("in $name", (row) => {
  const given = ["--secrets", "secrets.yaml"];
  const commands: readonly (readonly string[])[] = [
    ["compile", "-f", "after.yaml", ...given],
    ["compile", "-f", "after.yaml", ...given, "-o", "json"],
    ["diff", "-f", "after.yaml", "--against", "before.yaml", ...given],
    ["diff", "-f", "after.yaml", "--against", "before.yaml", ...given, "-o", "json"],
    ["why", "a", "b", "-f", "after.yaml"],
    ["graph", "-f", "after.yaml", "-o", "json"],
    ["validate", "-f", "after.yaml", "-o", "json"],
  ];
  beforeAll(() => {
    writeFileSync(join(cwd, "after.yaml"), documents(row, "a:2"));
    writeFileSync(join(cwd, "before.yaml"), documents({ ...row, container: { variables: { A: "open" } }, resources: {} }));
  });
  test.each(commands)("lattice %s", async (...argv) => {
    const { stdout, stderr } = await runCli(argv, { cwd });
    const output = stderr + (argv[0] === "compile" ? withoutData(stdout) : stdout);
    expect(output).not.toBe("");
    for (const form of FORMS) expect(output.includes(form), `${form} in ${output.slice(0, 1_000)}`).toBe(false);
  });
});

test("every field with templates is among the rows", () => {
  expect(new Set(rows.map(({ field }) => field))).toEqual(new Set(findTemplateFields().read));
});

test("the search finds the value in the Secret", async () => {
  const [row] = rows;
  writeFileSync(join(cwd, "after.yaml"), row === undefined ? "" : documents(row));
  const { stdout } = await runCli(["compile", "-f", "after.yaml", "--secrets", "secrets.yaml"], { cwd });
  const objects = expectOk(parseYaml(stdout)) as unknown as readonly KubeObject[];
  const holding = objects.filter((object) => JSON.stringify(object).includes(Buffer.from(CANARY).toString("base64")));
  expect(holding.map(({ kind, metadata }) => `${kind} ${metadata.name}`)).toEqual(["Secret a-secrets"]);
});
