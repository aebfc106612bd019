/** Environment variables: never in the Deployment, always by reference. */
import type { JsonObject } from "#kube";
import type { RenderedContainer } from "../rendering/render-service.ts";
import { configObjects, type ConfigObjects, type Content } from "./config-objects.ts";
import { configName, type WorkloadOwner } from "./names.ts";

export type CompiledEnv = { readonly objects: ConfigObjects; readonly envFrom: readonly JsonObject[] };

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
  return { objects, envFrom };
}
