/** One Deployment as its owner writes it: a manifest for kubectl and PUT, a folder for `kubectl apply -k`, a chart for helm. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { formatYaml, type JsonObject } from "#kube";

export type OwnerValues = { readonly level: string; readonly memory: string; readonly replicas: number };

export const DEPLOYMENT = "web";
export const FIRST: OwnerValues = { level: "info", memory: "64Mi", replicas: 1 };

/** What the webhook of the stories writes is not in it, or has another value: LEVEL and the memory limit. */
export function ownedManifest({ level, memory, replicas }: OwnerValues): JsonObject {
  const app = { app: DEPLOYMENT };
  const container = {
    name: DEPLOYMENT,
    image: "example.test/web:1",
    env: [
      { name: "FIRST", value: "1" },
      { name: "LEVEL", value: level },
    ],
    envFrom: [{ configMapRef: { name: "owner", optional: true } }],
    resources: { limits: { memory } },
  };
  return {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name: DEPLOYMENT, labels: app },
    spec: {
      replicas,
      selector: { matchLabels: app },
      template: { metadata: { labels: app }, spec: { serviceAccountName: DEPLOYMENT, containers: [container] } },
    },
  };
}

/** Writes `deployment.yaml` and `kustomization.yaml`; the folder is for `-k`, the file for `-f`. */
export function writeKustomization(folder: string, values: OwnerValues): void {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "deployment.yaml"), formatYaml(ownedManifest(values)));
  writeFileSync(join(folder, "kustomization.yaml"), formatYaml({ resources: ["deployment.yaml"] }));
}

/** Writes a chart whose values are those of the owner. */
export function writeChart(folder: string, values: OwnerValues): void {
  mkdirSync(join(folder, "templates"), { recursive: true });
  writeFileSync(join(folder, "Chart.yaml"), formatYaml({ apiVersion: "v2", name: DEPLOYMENT, version: "1.0.0" }));
  writeFileSync(join(folder, "values.yaml"), formatYaml(values));
  const placeholders = { level: "LEVEL_VALUE", memory: "MEMORY_VALUE", replicas: 4242 };
  const template = formatYaml(ownedManifest(placeholders))
    .replace("LEVEL_VALUE", "{{ .Values.level }}")
    .replace("MEMORY_VALUE", "{{ .Values.memory }}")
    .replace("4242", "{{ .Values.replicas }}");
  writeFileSync(join(folder, "templates", "deployment.yaml"), template);
}
