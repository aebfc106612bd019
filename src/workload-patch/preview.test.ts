import { describe, expect, test } from "vitest";
import { expectOk } from "#base";
import type { KubeObject } from "#kube";
import { AT, ownedDeployment, patchOf } from "../../test/builders/workload-patches.ts";
import { applyWorkloadPatch, pathText, previewWorkloadPatch } from "./index.ts";

const MAIN = "spec.template.spec.containers[main]";

function managed(deployment: KubeObject): KubeObject {
  const main = { "f:image": {}, "f:envFrom": {}, "f:env": { 'k:{"name":"LEVEL"}': { ".": {}, "f:value": {} } } };
  const template = { "f:spec": { "f:containers": { 'k:{"name":"main"}': main } } };
  const managedFields = [
    { manager: "helm", operation: "Apply", time: "2026-01-01T00:00:00Z", fieldsV1: { "f:spec": { "f:template": template } } },
    { manager: "kubectl-edit", operation: "Update", time: "2026-02-01T00:00:00Z", fieldsV1: { "f:spec": { "f:template": { "f:spec": { "f:containers": { 'k:{"name":"main"}': { "f:image": {} } } } } } } },
    { manager: "kube-controller-manager", operation: "Update", subresource: "status", time: "2026-03-01T00:00:00Z", fieldsV1: { "f:spec": { "f:template": template } } },
    { manager: "lattice", operation: "Update", time: "2026-04-01T00:00:00Z", fieldsV1: { "f:spec": { "f:template": template } } },
    "not an entry",
  ]; // prettier-ignore
  return { ...deployment, metadata: { ...deployment.metadata, managedFields } };
}

const KEY = { secretKeyRef: { name: "web-env", key: "X" } };
const OWNED = managed(
  ownedDeployment({
    env: [
      { name: "LEVEL", value: "info" },
      { name: "DB_PASSWORD", value: "hunter2" },
      { name: "API_TOKEN", valueFrom: { secretKeyRef: { name: "own", key: "t" } } },
    ],
    envFrom: [{ configMapRef: { name: "own" } }],
  }),
);
const PATCH = patchOf(
  { image: "web:2", resources: { limits: { cpu: "1" } } },
  { envFrom: { main: [{ configMapRef: { name: "web-env" } }] }, variables: { main: { LEVEL: KEY, DB_PASSWORD: KEY, API_TOKEN: KEY } } },
);

describe("the preview of a workload patch", () => {
  test("has each field with its value before and after, and its owner: the last writer of the spec that is not Lattice", () => {
    const { fields, missingContainers, isApplied } = expectOk(previewWorkloadPatch(OWNED, PATCH, AT));
    expect(fields).toEqual([
      { path: 'metadata.labels["lattice.dev/service"]', after: "web" },
      { path: 'spec.template.metadata.labels["lattice.dev/service"]', after: "web" },
      { path: `${MAIN}.env[API_TOKEN]`, before: { name: "API_TOKEN", valueFrom: { secretKeyRef: { name: "own", key: "t" } } }, after: { name: "API_TOKEN", valueFrom: KEY } },
      { path: `${MAIN}.env[LATTICE_DB_PASSWORD]`, after: { name: "LATTICE_DB_PASSWORD", valueFrom: KEY } },
      { path: `${MAIN}.env[DB_PASSWORD]`, before: { name: "DB_PASSWORD", value: "(hidden)" }, after: { name: "DB_PASSWORD", value: "$(LATTICE_DB_PASSWORD)" } },
      { path: `${MAIN}.env[LATTICE_LEVEL]`, after: { name: "LATTICE_LEVEL", valueFrom: KEY } },
      { path: `${MAIN}.env[LEVEL]`, before: { name: "LEVEL", value: "info" }, after: { name: "LEVEL", value: "$(LATTICE_LEVEL)" }, owner: { manager: "helm", operation: "Apply" } },
      { path: `${MAIN}.envFrom[configMapRef web-env]`, after: { configMapRef: { name: "web-env" } }, owner: { manager: "helm", operation: "Apply" } },
      { path: `${MAIN}.image`, before: "web:1", after: "web:2", owner: { manager: "kubectl-edit", operation: "Update" } },
      { path: `${MAIN}.resources.limits.cpu`, after: "1" },
    ]); // prettier-ignore
    expect(missingContainers).toEqual([]);
    expect(isApplied).toBe(false);
  });

  test("is the same for a Deployment that has the patch", () => {
    const { deployment } = expectOk(applyWorkloadPatch(OWNED, PATCH, { at: AT }));
    const { fields } = expectOk(previewWorkloadPatch(OWNED, PATCH, AT));
    expect(expectOk(previewWorkloadPatch(deployment, PATCH, AT))).toEqual({
      fields,
      missingContainers: [],
      isApplied: true,
      conflicts: [],
      skipped: [],
    });
  });

  test("never shows the value of a variable with the name of a secret", () => {
    expect(JSON.stringify(previewWorkloadPatch(OWNED, PATCH, AT))).not.toContain("hunter2");
  });

  test("names the fields that stay as they are", () => {
    const probed = ownedDeployment({ livenessProbe: { exec: { command: ["x"] } } });
    const { skipped, fields } = expectOk(previewWorkloadPatch(probed, patchOf({ livenessProbe: { tcpSocket: { port: 80 } } }), AT));
    expect(skipped.map(({ path }) => pathText(path))).toEqual([`${MAIN}.livenessProbe`]);
    expect(fields.map(({ path }) => path)).not.toContain(`${MAIN}.livenessProbe`);
  });

  test("names containers that the Deployment does not have", () => {
    const patch = patchOf({}, { envFrom: { gone: [{ configMapRef: { name: "x" } }] } });
    expect(expectOk(previewWorkloadPatch(OWNED, patch, AT)).missingContainers).toEqual(["gone"]);
  });
});
