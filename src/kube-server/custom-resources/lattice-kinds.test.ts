/** The CRDs of Lattice: the expected results are those of a real API server, which runs the same rows (test/kube). */
import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { expectOk } from "#base";
import { latticeKinds } from "#crds";
import { fieldAt, parseYaml, type Json, type JsonObject, type KubeObject } from "#kube";
import { invalidResources, invalidUpdates, type InvalidResource } from "../../../test/builders/invalid-resources.ts";
import { rawClusterOn } from "../../../test/builders/valid-resources.ts";
import { customResourceTypes, type CustomResourceType } from "./resource/custom-resource-type.ts";
import { admitted, linesOf, create, update } from "./widget.test-support.ts";

const DIRECTORY = new URL("../../../deploy/crds/", import.meta.url);
const files = readdirSync(DIRECTORY).filter((name) => name.endsWith(".yaml"));
const crds = files.map((name) => expectOk(parseYaml(readFileSync(new URL(name, DIRECTORY), "utf8")))[0] as JsonObject);
const types = new Map<string, CustomResourceType>(
  crds.flatMap((crd) =>
    customResourceTypes(admitted(crd).object as unknown as KubeObject).map((type) => [type.resource.kind, type] as const),
  ),
);

function typeOfKind(kind: string): CustomResourceType {
  const type = types.get(kind);
  if (type === undefined) throw new Error(`${kind} has no CRD`);
  return type;
}

type Want = Pick<InvalidResource, "wantPath" | "wantMessage" | "serverPath" | "serverMessage">;

function expectRefusal(
  lines: readonly string[],
  { wantPath, wantMessage, serverPath = wantPath, serverMessage = wantMessage }: Want,
): void {
  if (serverPath === null) expect(lines.join("\n")).toContain(serverMessage);
  else expect(lines.filter((line) => line.startsWith(`${serverPath}: `)).join("\n")).toContain(serverMessage);
}

/** Unknown fields are refused too under fieldValidation Strict, as in these rows. */
function strictly(type: CustomResourceType, object: Json): readonly string[] {
  const result = create(type, object);
  return result.status === 200 ? result.findings : linesOf(result);
}

test("every kind has a CRD that is admitted", () => {
  expect([...types.keys()].toSorted()).toEqual(latticeKinds.map(({ kind }) => kind).toSorted());
});

describe("refused as a real API server refuses it:", () => {
  test.each(invalidResources)("$given.kind: $name", ({ given, ...want }) => {
    expectRefusal(strictly(typeOfKind(given.kind), given as unknown as Json), want);
  });
});

describe("refused as a change:", () => {
  test.each(invalidUpdates)("$before.kind: $name", ({ before, after, ...want }) => {
    const type = typeOfKind(before.kind);
    const stored = create(type, before as unknown as Json);
    if (stored.status !== 200) throw new Error(linesOf(stored).join("\n"));
    expect(fieldAt(stored.object, "kind")).toBe(before.kind);
    expectRefusal(linesOf(update(type, stored.object, after as unknown as JsonObject)), want);
  });
});

test("a node image is changed together with its version", () => {
  const type = typeOfKind("LatticeCluster");
  const stored = create(type, rawClusterOn({ docker: { image: "kindest/node:v1.36.3" } }) as unknown as Json);
  if (stored.status !== 200) throw new Error(linesOf(stored).join("\n"));
  const after = rawClusterOn({ docker: { image: "kindest/node:v1.37.0" }, kubernetes: { version: "1.37.0" } });
  expect(update(type, stored.object, after as unknown as JsonObject).status).toBe(200);
});
