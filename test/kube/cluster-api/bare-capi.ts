/** The kinds and the inventory of Cluster API without its managers and webhooks: what a move needs of an API server, and nothing that writes. */
import { formatYamlDocuments, type KubeObject } from "#kube";
import { eventually } from "../harness/eventually.ts";
import { capiComponents } from "./components.ts";
import { INVENTORY_CRD, MANAGERS, moduleFile, type CapiServer } from "./managers.ts";

const KEPT: ReadonlySet<string> = new Set(["Namespace", "CustomResourceDefinition", "Provider"]);
const LIMIT_MS = 180_000;

export async function installCapiKinds(server: Pick<CapiServer, "kubectl">): Promise<void> {
  const objects: KubeObject[] = [];
  for (const manager of MANAGERS) {
    const kustomized = await server.kubectl(["kustomize", await moduleFile(manager.module, manager.kustomization)], { limitMs: LIMIT_MS });
    if (kustomized.code !== 0) throw new Error(kustomized.stderr);
    const components = capiComponents(kustomized.stdout, manager, { port: 1, caPem: "" });
    objects.push(...components.filter(({ kind }) => KEPT.has(kind)).map(withoutConversion));
  }
  await apply(server, ["-f", await moduleFile("capi", INVENTORY_CRD)]);
  await apply(server, ["-f", "-"], formatYamlDocuments(objects.filter(({ kind }) => kind !== "Provider")));
  await apply(server, ["-f", "-"], formatYamlDocuments(objects.filter(({ kind }) => kind === "Provider")));
}

/** Only the storage version is used, and no webhook runs. */
function withoutConversion(object: KubeObject): KubeObject {
  if (object.kind !== "CustomResourceDefinition") return object;
  const { spec, ...rest } = object as KubeObject & { readonly spec: object };
  return { ...rest, spec: { ...spec, conversion: { strategy: "None" } } } as KubeObject;
}

/** Kinds are not served at once when their definitions are stored. */
async function apply({ kubectl }: Pick<CapiServer, "kubectl">, args: readonly string[], stdin?: string): Promise<void> {
  await eventually(
    "the kinds of Cluster API are applied",
    async () => {
      const ran = await kubectl(["apply", "--server-side", "--force-conflicts", ...args], {
        limitMs: LIMIT_MS,
        ...(stdin === undefined ? {} : { stdin }),
      });
      if (ran.code !== 0) throw new Error(ran.stderr);
      return true;
    },
    { withinMs: LIMIT_MS, everyMs: 1_000 },
  );
}
