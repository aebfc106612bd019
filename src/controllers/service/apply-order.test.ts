/** Resources may be created in any order: a service waits for references that do not exist yet and does not report them as its errors. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { expectOk } from "#base";
import { latticeServices } from "#crds";
import { fieldAt, keyText, parseYaml, type KubeObject } from "#kube";
import { environment, externalService, latticeService, secret, withVariables } from "../../../test/builders/lattice-objects.ts";
import { OperatedCluster } from "../../../test/builders/operated-cluster.ts";

const containing = (text: string) => expect.stringContaining(text) as string;

/** In the order in which kubectl reads a folder. */
function shopObjects(): readonly KubeObject[] {
  const folder = join(import.meta.dirname, "../../../examples/shop");
  const files = readdirSync(folder).filter((name) => name.endsWith(".yaml"));
  const documents = files.toSorted().flatMap((name) => expectOk(parseYaml(readFileSync(join(folder, name), "utf8"))));
  return (documents as unknown as readonly KubeObject[]).map((object) =>
    object.kind === "LatticeEnvironment" ? object : { ...object, metadata: { namespace: "default", ...object.metadata } },
  );
}

test("files that are applied in alphabetic order never show phase Failed", async () => {
  const secrets = [secret("shop/postgres-products", { password: "p" }, "default"), secret("shop/stripe", { "api-key": "k" }, "default")];
  await using operated = await OperatedCluster.start({ objects: secrets });
  const failed: string[] = [];
  for (const object of shopObjects()) {
    await operated.apply(object);
    await operated.live(1_000, 250);
    for (const kind of ["LatticeService", "LatticeExternalService"])
      for (const one of await operated.list(kind))
        if (fieldAt(one, "status", "phase") === "Failed")
          failed.push(`${keyText(one.metadata)}: ${JSON.stringify(fieldAt(one, "status", "message"))}`);
  }
  expect(failed).toEqual([]);
  await operated.live(8_000, 500);
  const phases = (await operated.list("LatticeService")).map((one) => fieldAt(one, "status", "phase"));
  expect(phases).toEqual(["Ready", "Ready", "Ready", "Ready", "Ready"]);
});

test("a service waits for a callee, an external service and an environment, and lists them", async () => {
  const reads = { ...withVariables({ API: "${resources.api.url}", PAY: "${resources.pay.url}" }) };
  const resources = { api: { direction: "outbound" }, pay: { type: "external-service" } };
  await using operated = await OperatedCluster.start({
    objects: [latticeService("shop/web", { ...reads, resources }), latticeService("team/job", { environment: "prod" })],
  });
  const reason = "DependencyNotFound";
  const message = containing("waiting for service shop/api and external service shop/pay: resource 'api' of type 'service' not found");
  expect((await operated.service("shop/web")).status).toMatchObject({ phase: "Pending", message });
  for (const type of ["TemplatesResolved", "ConfigCompiled", "Ready"])
    expect(await operated.condition("shop/web", type)).toMatchObject({ status: "False", reason, message });
  expect((await operated.service("team/job")).status).toMatchObject({
    phase: "Pending",
    message: containing(
      "waiting for LatticeEnvironment prod: namespace team may not deploy into prod: there is no LatticeEnvironment prod",
    ),
  });
  const warnings = (await operated.events()).filter(({ type, regarding }) => type === "Warning" && regarding["kind"] === "LatticeService");
  expect(warnings).toEqual([]);

  await operated.apply(
    latticeService("shop/api"),
    externalService("shop/pay", { endpoints: { default: "https://pay.example.com" }, allowedRequesters: ["web"] }),
    environment("prod", { sourceNamespaces: ["team"] }),
  );
  await operated.live(6_000, 500);
  for (const key of ["shop/web", "team/job"])
    expect(await operated.condition(key, "Ready")).toMatchObject({ status: "True", reason: "Compiled" });

  await operated.remove(latticeServices, "shop/api");
  await operated.live(2_000, 500);
  expect(await operated.condition("shop/web", "Ready")).toMatchObject({ status: "False", reason });
  expect(await operated.condition("shop/web", "WorkloadsReady")).toMatchObject({ status: "True" });
});

test("an error of the service beside a missing reference is a failure", async () => {
  const reads = withVariables({ API: "${resources.api.url}", LEVEL: "${config.nope}" });
  await using operated = await OperatedCluster.start({
    objects: [latticeService("shop/web", { ...reads, resources: { api: { direction: "outbound" } } })],
  });
  expect((await operated.service("shop/web")).status).toMatchObject({ phase: "Failed", message: containing("config has no 'nope'") });
  expect(await operated.condition("shop/web", "Ready")).toMatchObject({ status: "False", reason: "CompileError" });
});

test("in the first two seconds of a service its errors are not reported", async () => {
  await using operated = await OperatedCluster.start();
  await operated.apply(latticeService("shop/web", withVariables({ KEY: "${secrets.pay.key}", LEVEL: "${config.nope}" })));
  await operated.live(500, 100);
  expect((await operated.service("shop/web")).status).toMatchObject({ phase: "Compiling" });
  expect(await operated.condition("shop/web", "Ready")).toMatchObject({ status: "False", reason: "NotCompiled" });
  await operated.live(3_000, 500);
  expect((await operated.service("shop/web")).status).toMatchObject({ phase: "Failed", message: containing("secret 'pay' is not bound") });
  await operated.apply(latticeService("shop/web"));
  await operated.live(4_000, 500);
  await operated.apply(latticeService("shop/web", withVariables({ LEVEL: "${config.nope}" })));
  await operated.live(200, 100);
  expect((await operated.service("shop/web")).status).toMatchObject({ phase: "Failed" });
});
