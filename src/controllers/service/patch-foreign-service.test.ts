/** The Service of a service in patch mode does not get in the way of the one that the owner of the Deployment installs. */
import { expect, test } from "vitest";
import { expectOk } from "#base";
import { deployments, fieldAt, services, type Service } from "#kube";
import { account, deployment, patching, startPatching } from "../../../test/builders/patched-service.ts";

const port = { name: "http", port: 80, targetPort: 8080, protocol: "TCP" } as const;
/** As the chart of the Deployment has it. */
const ofChart = {
  apiVersion: "v1",
  kind: "Service",
  metadata: { name: "web", namespace: "shop" },
  spec: { selector: { app: "nginx" }, ports: [port] },
} as Service;
const withPorts = patching({ service: { ports: { http: { port: 80 } } } });

test("a Service of its name can be created before the Deployment, and is left alone", async () => {
  await using started = await startPatching([account(), withPorts]);
  const { operated } = started;
  expect(await operated.names("Service", "shop")).toEqual([]);
  expectOk(await operated.client.create(services, ofChart, { fieldManager: "helm" }));
  await operated.apply(deployment());
  await operated.live(6_000, 500);
  expect(await operated.condition("shop/web", "Ready")).toMatchObject({ status: "True" });
  const found = await operated.read("Service", "shop/web");
  expect([fieldAt(found, "spec", "selector"), fieldAt(found, "metadata", "labels")]).toEqual([{ app: "nginx" }, undefined]);
});

test("the Service is made with the Deployment and deleted with it, so that the Deployment can be installed again", async () => {
  await using started = await startPatching([account(), deployment(), withPorts]);
  const { operated } = started;
  expect(await operated.names("Service", "shop")).toEqual(["web"]);
  await operated.remove(deployments, "shop/nginx");
  await operated.live(3_000, 500);
  expect(await operated.names("Service", "shop")).toEqual([]);
  expect(await operated.names("ConfigMap", "shop")).toContain("web-env");
  await operated.apply(deployment());
  await operated.live(6_000, 500);
  expect(await operated.names("Service", "shop")).toEqual(["web"]);
});
