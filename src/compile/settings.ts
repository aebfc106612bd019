/** Inputs of a world besides its resources: settings, and access to secrets and files. */
import { err, sensitive } from "#base";
import type { GatewayIdentity } from "#mesh-compiler";
import type { ServiceInput, Settings } from "#service-compiler";
import type { FindObject } from "./object-access.ts";
import type { FindWorkload } from "./patch-target.ts";

type GatewayName = Settings["gateway"];

/** Settings, and access to secrets and files. `worldSettings` adds the defaults. */
export type WorldSettings = Pick<ServiceInput, "settings" | "secrets" | "readFile" | "syncedVersion"> & {
  readonly trustDomain: string;
  readonly gateway: GatewayName;
  readonly gatewayIdentity: (gateway: GatewayName) => GatewayIdentity;
  /** Objects that volumes refer to, as far as they are known. */
  readonly findObject: FindObject;
  /** Deployments that services in patch mode name. `World.workloadChanged` reports a change. */
  readonly findWorkload: FindWorkload;
};

/** Without a cluster there is no secret key for the config hash, so a fixed one is used. */
const OFFLINE_KEY = "lattice-offline";

/**
 * The defaults: `cluster.local`, no ingress domain, gateway `istio-ingress/gateway`.
 *
 * @example const settings = { ...DEFAULT_SETTINGS, ingressDomain: "apps.example.com" };
 */
export const DEFAULT_SETTINGS: Settings = {
  clusterDomain: "cluster.local",
  trustDomain: "cluster.local",
  ingressDomain: undefined,
  gateway: { namespace: "istio-ingress", name: "gateway" },
  cluster: {},
  hashKey: sensitive(OFFLINE_KEY),
};

/** Istio names the service account of a gateway's pods after the gateway and its class. */
function istioGateway({ namespace, name }: GatewayName): GatewayIdentity {
  return { namespace, name, serviceAccount: `${name}-istio` };
}

/**
 * Adds defaults to the given settings: without secrets and files.
 *
 * @example const world = new World(worldSettings({ ingressDomain: "apps.example.com" }));
 */
export function worldSettings(
  settings: Partial<Settings> = {},
  ports: Partial<Pick<WorldSettings, "secrets" | "readFile" | "syncedVersion" | "findObject" | "findWorkload">> = {},
): WorldSettings {
  const all = { ...DEFAULT_SETTINGS, ...settings };
  return {
    settings: all,
    trustDomain: all.trustDomain,
    gateway: all.gateway,
    gatewayIdentity: istioGateway,
    secrets: (_, path) => err(`there is no secret '${path}'`),
    readFile: (path) => err(`${path} cannot be read here: only the command line has files`),
    syncedVersion: () => undefined,
    findObject: () => undefined,
    findWorkload: () => "assumed",
    ...ports,
  };
}
