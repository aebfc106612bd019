/** A bundle of the published components of Cluster API, made from the module cache of Go. Cilium is a stand-in unless its manifests are given. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expectOk } from "#base";
import { makeBundle } from "#bundle";
import type { PlaneAccess } from "../harness/index.ts";
import { MANAGERS, moduleFile } from "./managers.ts";

const STAND_IN = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: cilium-config, namespace: kube-system}\ndata: {}\n";

/** The folder. `cilium`: its manifests. */
export async function publishedBundle(plane: Pick<PlaneAccess, "kubectlOk">, folder: string, cilium = STAND_IN): Promise<string> {
  const sources = [{ name: "cilium", version: "v1.20.2", files: [{ path: "cilium.yaml", text: cilium }] }];
  for (const { name, version, module, kustomization } of MANAGERS) {
    const text = await plane.kubectlOk(["kustomize", await moduleFile(module, kustomization)]);
    sources.push({ name, version: `v${version}`, files: [{ path: `${name}.yaml`, text }] });
  }
  const made = expectOk(makeBundle(sources, { mirrors: [], variables: new Map() }));
  mkdirSync(folder, { recursive: true });
  for (const [file, text] of made.files) writeFileSync(join(folder, file), text);
  return folder;
}
