/**
 * Objects that the parser rejects are rejected by a real API server too, for the same field and reason. The tests of src/crds use the same
 * rows, so that a rule means the same in TypeScript and in CEL.
 */
import { beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { latticeKinds } from "#crds";
import { fieldAt, isStatus, pathOf, type StatusCause } from "#kube";
import { invalidResources, invalidUpdates } from "../builders/invalid-resources.ts";
import type { RawObject } from "../builders/valid-resources.ts";
import { installLatticeCrds, sharedPlane, uniqueName, type HttpResponse, type PlaneAccess } from "./harness/index.ts";

/** The expected error. */
type Want = {
  readonly wantPath: string;
  readonly wantMessage: string;
  readonly serverPath?: string | null;
  readonly serverMessage?: string;
};

let plane: PlaneAccess;

beforeAll(async () => {
  plane = sharedPlane();
  await installLatticeCrds(plane);
});

describe("a real API server rejects the creation of", () => {
  test.each(invalidResources)("$given.kind: $name", async ({ given, ...want }) => {
    const path = `${collectionOf(given)}?fieldValidation=Strict&dryRun=All`;
    expectRefusal(await plane.request({ method: "POST", path, body: given }), want);
  });
});

describe("a real API server rejects the update of", () => {
  test.each(invalidUpdates)("$before.kind: $name", async ({ before, after, ...want }) => {
    const name = uniqueName("update");
    const path = `${collectionOf(before)}/${name}`;
    const created = await plane.request({ method: "POST", path: collectionOf(before), body: named(before, { name }) });
    expect(created.code, created.text).toBe(201);
    onTestFinished(async () => void (await plane.request({ method: "DELETE", path })));
    const resourceVersion = fieldAt(created.json(), "metadata", "resourceVersion");
    expectRefusal(await plane.request({ method: "PUT", path, body: named(after, { name, resourceVersion }) }), want);
  });
});

function expectRefusal(answer: HttpResponse, { wantPath, wantMessage, serverPath = wantPath, serverMessage = wantMessage }: Want): void {
  const status: unknown = answer.json();
  if (!isStatus(status)) throw new Error(`not rejected: ${answer.text}`);
  if (serverPath === null) {
    expect({ code: answer.code, message: status.message }).toEqual({ code: 400, message: expect.stringContaining(serverMessage) });
    return;
  }
  expect(answer.code, answer.text).toBe(422);
  expect(status.details?.causes?.map(pathAndMessage)).toContainEqual([serverPath, expect.stringContaining(serverMessage)]);
}

function pathAndMessage({ field, message }: StatusCause): readonly [string | undefined, string | undefined] {
  return [field, message];
}

function collectionOf(object: RawObject): string {
  const kind = latticeKinds.find((candidate) => candidate.kind === object.kind);
  if (kind === undefined) throw new Error(`${object.kind} is not a kind of Lattice`);
  return pathOf(kind.resource, kind.namespaced ? { namespace: "default" } : {});
}

function named(object: RawObject, metadata: Readonly<Record<string, unknown>>): RawObject {
  return { ...object, metadata: { ...object.metadata, ...metadata } };
}
