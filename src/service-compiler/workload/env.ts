/** Environment variables: never in the Deployment, always by reference. */
import type { JsonObject } from "#kube";
import type { RenderedContainer } from "../rendering/render-service.ts";
import { configObjects, homeOf, type ConfigObjects, type Content } from "./config-objects.ts";
import { configName, type WorkloadOwner } from "./names.ts";

export type CompiledEnv = {
  readonly objects: ConfigObjects;
  readonly envFrom: readonly JsonObject[];
  /** `valueFrom` of each variable, for a Deployment that defines a variable of the same name. */
  readonly sources: ReadonlyMap<string, JsonObject>;
};

export function compileEnv(owner: WorkloadOwner, { name, variables }: RenderedContainer): CompiledEnv {
  const contents = new Map<string, Content>();
  for (const [variable, { value }] of variables) contents.set(variable, { kind: "text", value });
  const names = {
    open: configName(owner, name, "env"),
    closed: configName(owner, name, "secrets"),
    outside: configName(owner, name, "external-secrets"),
  };
  const objects = configObjects({ owner, names, types: { open: "env", closed: "secrets" }, contents });
  const envFrom: JsonObject[] = [];
  if (objects.open !== undefined) envFrom.push({ configMapRef: { name: names.open } });
  if (objects.closed !== undefined) envFrom.push({ secretRef: { name: names.closed } });
  if (objects.outside !== undefined) envFrom.push({ secretRef: { name: names.outside } });
  const sources = new Map(
    [...contents].map(([key, content]) => {
      const home = homeOf(content);
      const reference = { name: names[home], key };
      return [key, home === "open" ? { configMapKeyRef: reference } : { secretKeyRef: reference }];
    }),
  );
  return { objects, envFrom, sources };
}
