import { expect, test } from "vitest";
import { expectOk } from "#base";
import { controlledCluster } from "../../../../test/builders/controlled-cluster.ts";
import { createSimulation } from "../../nodes/index.ts";
import { deploymentResource } from "../kinds/apps.ts";
import { podResource } from "../kinds/pod.ts";
import { replicaSetController } from "../replica-sets/replica-set-controller.ts";
import { deploymentController } from "./deployment-controller.ts";

test("x", async () => {
  const simulation = createSimulation();
  const cluster = await controlledCluster({
    controllers: [deploymentController, replicaSetController],
    simulation: simulation.controllers,
  });
  expectOk(
    await cluster.client.create(deploymentResource, {
      apiVersion: "apps/v1",
      kind: "Deployment",
      metadata: { name: "web", namespace: "default" },
      spec: {
        replicas: 3,
        selector: { matchLabels: { app: "web" } },
        template: { metadata: { labels: { app: "web" } }, spec: { containers: [{ name: "web", image: "web:1" }] } },
      },
    }),
  );
  await cluster.running.idle();
  for (let i = 0; i < 20; i++) await cluster.advance(50);
  console.log(JSON.stringify(expectOk(await cluster.client.get(deploymentResource, { namespace: "default", name: "web" })), null, 1));
  console.log(JSON.stringify(expectOk(await cluster.client.list(podResource)).items[0], null, 1));
  console.log(cluster.writes, cluster.lines);
  expect(await cluster.end()).toBe(0);
});
