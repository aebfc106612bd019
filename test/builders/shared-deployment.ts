/** Deployment shop/nginx, shared with other namespaces, and a LatticeService of namespace tenant that patches it. */
import type { FixtureObject } from "#embedded-cluster";
import { account, deployment, patching, startPatching, type Started } from "./patched-service.ts";

export const sharedDeployment = deployment({ metadata: { labels: { "lattice.dev/shareable": "true" } } });

/** LatticeEnvironment shop: services of these namespaces run in namespace shop. */
export const shopEnvironment = (sourceNamespaces: readonly string[]): FixtureObject => ({
  apiVersion: "lattice.dev/v1alpha1",
  kind: "LatticeEnvironment",
  metadata: { name: "shop" },
  spec: { namespace: "shop", sourceNamespaces },
});

export const tenantService = (key = "tenant/web") => patching({ environment: "shop" }, key);

export const startSharing = (): Promise<Started> =>
  startPatching([account(), shopEnvironment(["tenant"]), sharedDeployment, tenantService()]);
