/** Files become entries of ConfigMaps and Secrets, each mounted by itself. */
import { describe, expect, test } from "vitest";
import { compiled, dataOf, mainContainer } from "../../../test/builders/service-input.ts";

const PASSWORD = "canary-password";
const around = {
  secrets: { "postgres/db/password": PASSWORD },
  files: { "conf/app.ini": "host=${resources.db.host}", "logo.png": new Uint8Array([0xff, 0xd8, 0]) },
};
const files = (given: Readonly<Record<string, unknown>>) =>
  compiled(mainContainer({ files: given }, { resources: { db: { type: "postgres" } } }), around);

describe("files", () => {
  test("Text file creates ConfigMap entry", () => {
    const { find } = files({ "/etc/app/config.yaml": { content: "host: ${resources.db.host}\n" } });
    expect(dataOf(find("ConfigMap", "api-files"))).toEqual({ "etc-app-config.yaml": "host: db-postgres.prod.svc.cluster.local\n" });
    expect(find("ConfigMap", "api-files")?.metadata.labels).toMatchObject({ "lattice.dev/config-type": "files" });
    expect(find("Secret")).toBeUndefined();
  });

  test("Binary file creates Secret entry", () => {
    const { find } = files({ "/opt/logo.png": { binaryContent: "/9gA" } });
    expect(find("Secret", "api-files-secret")).toMatchObject({ data: { "opt-logo.png": "/9gA" }, type: "Opaque" });
    expect(find("ConfigMap")).toBeUndefined();
  });

  test("Text with a sensitive part creates a Secret entry, whole", () => {
    const { find } = files({ "/etc/db.conf": { content: "host=${resources.db.host}\npassword=${resources.db.password}\n" } });
    expect(dataOf(find("Secret", "api-files-secret"))).toEqual({
      "etc-db.conf": `host=db-postgres.prod.svc.cluster.local\npassword=${PASSWORD}\n`,
    });
    expect(find("ConfigMap")).toBeUndefined();
  });

  test("File paths converted to valid keys", () => {
    const given = [
      "/etc/app/config.yaml",
      "/a-b/c",
      "/a/b-c",
      "/etc/été.conf",
      "/..data",
      "/x/a b",
      `/${"long/".repeat(80)}end`,
      "/.hidden",
    ];
    const data = dataOf(files(Object.fromEntries(given.map((path) => [path, { content: path }]))).find("ConfigMap", "api-files")) ?? {};
    expect(new Set(Object.values(data))).toEqual(new Set(given));
    for (const key of Object.keys(data)) {
      expect(key).toMatch(/^[-._a-zA-Z0-9]+$/);
      expect(key.length).toBeLessThanOrEqual(253);
      expect(key.startsWith("..")).toBe(false);
    }
    const keyOf = (path: string) => Object.entries(data).find(([, content]) => content === path)?.[0];
    expect([keyOf("/etc/app/config.yaml"), keyOf("/.hidden")]).toEqual(["etc-app-config.yaml", ".hidden"]);
    expect(keyOf("/a-b/c")).toMatch(/^a-b-c-[0-9a-f]{8}$/);
    expect(keyOf("/a/b-c")).toMatch(/^a-b-c-[0-9a-f]{8}$/);
  });

  test("Volume mounts use correct subPath", () => {
    const { main, pod } = files({ "/etc/a.txt": { content: "a" }, "/etc/b.bin": { binaryContent: "AAAA" } });
    expect(main("volumeMounts")).toEqual([
      { name: "files", mountPath: "/etc/a.txt", subPath: "etc-a.txt", readOnly: true },
      { name: "files-secret", mountPath: "/etc/b.bin", subPath: "etc-b.bin", readOnly: true },
    ]);
    expect(pod("volumes")).toEqual([
      { name: "files", configMap: { name: "api-files", defaultMode: 0o644 } },
      {
        name: "files-secret",
        secret: { secretName: "api-files-secret", defaultMode: 0o600, items: [{ key: "etc-b.bin", path: "etc-b.bin", mode: 0o644 }] },
      },
    ]);
  });

  test("File modes parsed correctly", () => {
    const { pod } = files({ "/a": { content: "a", mode: "0755" }, "/b": { content: "b" }, "/c": { binaryContent: "", mode: "400" } });
    expect(pod("volumes")).toEqual([
      {
        name: "files",
        configMap: {
          name: "api-files",
          defaultMode: 0o644,
          items: [
            { key: "a", path: "a", mode: 0o755 },
            { key: "b", path: "b", mode: 0o644 },
          ],
        },
      },
      {
        name: "files-secret",
        secret: { secretName: "api-files-secret", defaultMode: 0o600, items: [{ key: "c", path: "c", mode: 0o400 }] },
      },
    ]);
    expect(files({ "/c": { binaryContent: "", mode: "0600" } }).pod("volumes")).toEqual([
      { name: "files-secret", secret: { secretName: "api-files-secret", defaultMode: 0o600 } },
    ]);
  });

  test("Multiple files in same ConfigMap", () => {
    const { find, objects } = files({ "/a": { content: "1" }, "/b": { content: "2" }, "/c/d": { content: "3" } });
    expect(dataOf(find("ConfigMap", "api-files"))).toEqual({ a: "1", b: "2", "c-d": "3" });
    expect(objects.filter(({ kind }) => kind === "ConfigMap")).toHaveLength(1);
  });

  test("a source is read if files are available: text is rendered, bytes stay bytes", () => {
    const { find } = files({
      "/app.ini": { source: "conf/app.ini" },
      "/logo.png": { source: "logo.png" },
      "/raw.ini": { source: "conf/app.ini", noExpand: true },
    });
    expect(dataOf(find("ConfigMap", "api-files"))).toEqual({
      "app.ini": "host=db-postgres.prod.svc.cluster.local",
      "raw.ini": "host=${resources.db.host}",
    });
    expect(find("Secret", "api-files-secret")).toMatchObject({ data: { "logo.png": "/9gA" } });
  });

  test("noExpand leaves a text unchanged and not sensitive", () => {
    const { find } = files({ "/t": { content: "${resources.db.password} ${nonsense", noExpand: true } });
    expect(dataOf(find("ConfigMap", "api-files"))).toEqual({ t: "${resources.db.password} ${nonsense" });
  });

  test("an empty file is created", () => {
    expect(dataOf(files({ "/empty": { content: "" } }).find("ConfigMap", "api-files"))).toEqual({ empty: "" });
  });

  test("with several containers each has files of its own, in volumes of its own", () => {
    const long = "c".repeat(63);
    const containers = {
      main: { image: "a:1", files: { "/f": { content: "1" } } },
      [long]: { image: "b:1", files: { "/f": { content: "2" }, "/g": { binaryContent: "AA==" } } },
    };
    const { find, pod } = compiled({ containers });
    expect(dataOf(find("ConfigMap", "api-main-files"))).toEqual({ f: "1" });
    expect(dataOf(find("ConfigMap", `api-${long}-files`))).toEqual({ f: "2" });
    const names = (pod("volumes") as readonly { readonly name: string }[]).map(({ name }) => name);
    expect(new Set(names).size).toBe(3);
    for (const name of names) expect(name).toMatch(/^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/);
    expect(names[0]).not.toBe(names[2]);
  });
});
