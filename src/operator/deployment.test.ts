import { expect, test } from "vitest";
import { expectOk } from "#base";
import { startEmbeddedCluster } from "#embedded-cluster";
import { deployments } from "#kube";
import { OPERATOR_NAME, operatorRbac } from "./controllers.ts";
import { operatorDeployment } from "./deployment.ts";

test("the Deployment is accepted by a server, with the account of the operator's roles and one replica", async () => {
  const [home, ...rbac] = operatorRbac();
  await using cluster = await startEmbeddedCluster({ objects: home === undefined ? rbac : [home, ...rbac] });
  const created = expectOk(
    await cluster.client.create(deployments, operatorDeployment({ version: "1.2.3", args: ["--lease-duration", "5s"] })),
  );
  expect(created.spec).toMatchObject({
    replicas: 1,
    template: {
      spec: {
        serviceAccountName: OPERATOR_NAME,
        containers: [
          {
            image: "lattice-fleet/lattice:1.2.3",
            args: [
              "operator",
              "--identity-file",
              "/var/lib/lattice/identity",
              "--health-address",
              "0.0.0.0:8080",
              "--lease-duration",
              "5s",
            ],
            ports: [
              { name: "health", containerPort: 8_080, protocol: "TCP" },
              { name: "webhook", containerPort: 9_443, protocol: "TCP" },
            ],
            readinessProbe: { httpGet: { path: "/readyz", port: "health" } },
          },
        ],
      },
    },
  });
  expect(rbac.some(({ kind, metadata }) => kind === "ServiceAccount" && metadata.name === OPERATOR_NAME)).toBe(true);
});
