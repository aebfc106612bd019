/** The object that holds each environment variable. */
import { describe, expect, test } from "vitest";
import { compiled, dataOf, mainContainer } from "../../../test/builders/service-input.ts";

const PASSWORD = "s3cr3t/pass";
const around = {
  secrets: { "postgres/main-db/password": PASSWORD, "app/key": "k3y" },
  bindings: { app: { bindings: { app: { secretRef: { name: "app" } } } } },
};
const resources = { postgres: { type: "postgres", id: "main-db" } };
const variables = (given: Readonly<Record<string, string>>) => mainContainer({ variables: given }, { resources });

function homes(given: Readonly<Record<string, string>>) {
  const { find } = compiled(variables(given), around);
  return { open: dataOf(find("ConfigMap", "api-env")), closed: dataOf(find("Secret", "api-secrets")) };
}

const HOST = "main-db-postgres.prod.svc.cluster.local";

describe("variables", () => {
  const rows: readonly { name: string; given: Readonly<Record<string, string>>; want: ReturnType<typeof homes> }[] = [
    {
      name: 'Literal value "info" goes to ConfigMap (not sensitive)',
      given: { LOG_LEVEL: "info" },
      want: { open: { LOG_LEVEL: "info" }, closed: undefined },
    },
    {
      name: "${resources.postgres.host} goes to ConfigMap (provisioner declares non-sensitive)",
      given: { DB_HOST: "${resources.postgres.host}" },
      want: { open: { DB_HOST: HOST }, closed: undefined },
    },
    {
      name: "${resources.postgres.password} goes to Secret (provisioner declares sensitive)",
      given: { DB: "${resources.postgres.password}" },
      want: { open: undefined, closed: { DB: PASSWORD } },
    },
    {
      name: "${resources.postgres.connection_string} goes to Secret (contains password, provisioner declares sensitive)",
      given: { DB_URL: "${resources.postgres.connection_string}" },
      want: { open: undefined, closed: { DB_URL: `postgresql://postgres:s3cr3t%2Fpass@${HOST}:5432/main-db` } },
    },
    {
      name: "Variable named DB_PASSWORD with literal value goes to ConfigMap (name doesn't matter, only origin)",
      given: { DB_PASSWORD: "hunter2" },
      want: { open: { DB_PASSWORD: "hunter2" }, closed: undefined },
    },
    {
      name: "Empty Secret not created if no sensitive outputs referenced",
      given: { A: "a", B: "${resources.postgres.url}" },
      want: { open: { A: "a", B: `postgresql://${HOST}:5432/main-db` }, closed: undefined },
    },
    {
      name: 'Mixed template "postgresql://${resources.postgres.host}" goes to ConfigMap (no sensitive refs)',
      given: { URL: "postgresql://${resources.postgres.host}" },
      want: { open: { URL: `postgresql://${HOST}` }, closed: undefined },
    },
    {
      name: "Mixed template with sensitive ref marks entire variable as sensitive",
      given: { URL: "prefix-${resources.postgres.password}-suffix", OTHER: "x" },
      want: { open: { OTHER: "x" }, closed: { URL: `prefix-${PASSWORD}-suffix` } },
    },
    { name: "no variables make no objects", given: {}, want: { open: undefined, closed: undefined } },
    { name: "${secrets.*} goes to Secret", given: { KEY: "${secrets.app.key}" }, want: { open: undefined, closed: { KEY: "k3y" } } },
    { name: "an escaped placeholder is a literal", given: { SHELL: "$${HOME}" }, want: { open: { SHELL: "${HOME}" }, closed: undefined } },
  ];
  test.each(rows)("$name", ({ given, want }) => expect(homes(given)).toEqual(want));

  test("Deployment has correct envFrom references", () => {
    const { main } = compiled(variables({ A: "a", B: "${resources.postgres.password}" }), around);
    expect(main("envFrom")).toEqual([{ configMapRef: { name: "api-env" } }, { secretRef: { name: "api-secrets" } }]);
    expect(main("env")).toBeUndefined();
    expect(compiled(variables({ A: "a" }), around).main("envFrom")).toEqual([{ configMapRef: { name: "api-env" } }]);
    expect(compiled(variables({ B: "${resources.postgres.password}" }), around).main("envFrom")).toEqual([
      { secretRef: { name: "api-secrets" } },
    ]);
    expect(compiled(variables({}), around).main("envFrom")).toBeUndefined();
  });

  test("the objects carry the service's labels, and the Secret data and no stringData", () => {
    const { find } = compiled(variables({ A: "a", B: "${resources.postgres.password}" }), around);
    const labels = (type: string) => ({
      "app.kubernetes.io/name": "api",
      "app.kubernetes.io/managed-by": "lattice",
      "lattice.dev/config-type": type,
    });
    expect(find("ConfigMap", "api-env")).toEqual({
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { name: "api-env", namespace: "prod", labels: labels("env") },
      data: { A: "a" },
    });
    expect(find("Secret", "api-secrets")).toEqual({
      apiVersion: "v1",
      kind: "Secret",
      type: "Opaque",
      metadata: { name: "api-secrets", namespace: "prod", labels: labels("secrets") },
      data: { B: Buffer.from(PASSWORD).toString("base64") },
    });
  });

  test("with several containers each has objects of its own", () => {
    const containers = {
      main: { image: "a:1", variables: { A: "a" } },
      side: { image: "b:1", variables: { B: "${resources.postgres.password}" } },
    };
    const { find, objects, pod } = compiled({ containers, resources }, around);
    expect(dataOf(find("ConfigMap", "api-main-env"))).toEqual({ A: "a" });
    expect(dataOf(find("Secret", "api-side-secrets"))).toEqual({ B: PASSWORD });
    expect(objects.filter(({ kind }) => kind === "ConfigMap" || kind === "Secret")).toHaveLength(2);
    expect(pod("containers")).toMatchObject([
      { name: "main", envFrom: [{ configMapRef: { name: "api-main-env" } }] },
      { name: "side", envFrom: [{ secretRef: { name: "api-side-secrets" } }] },
    ]);
  });
});
