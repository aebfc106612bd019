/** Volumes of the pod. */
import { describe, expect, test } from "vitest";
import { compiled, mainContainer, mistakes } from "../../../test/builders/service-input.ts";

const volumes = (given: Readonly<Record<string, unknown>>, resources: Readonly<Record<string, unknown>> = {}) =>
  compiled(mainContainer({ volumes: given }, { resources }));

describe("volumes", () => {
  const rows: readonly { name: string; given: string; want: unknown }[] = [
    { name: "pvc:my-claim creates PVC volume", given: "pvc:my-claim", want: { persistentVolumeClaim: { claimName: "my-claim" } } },
    { name: "configmap:my-cm creates ConfigMap volume", given: "configmap:my-cm", want: { configMap: { name: "my-cm" } } },
    { name: "secret:my-secret creates Secret volume", given: "secret:my-secret", want: { secret: { secretName: "my-secret" } } },
    { name: "emptydir: creates EmptyDir volume", given: "emptydir:", want: { emptyDir: {} } },
    { name: "emptydir without its colon is one too", given: "emptydir", want: { emptyDir: {} } },
    { name: "a bare name is a claim", given: "my-claim", want: { persistentVolumeClaim: { claimName: "my-claim" } } },
  ];
  test.each(rows)("$name", ({ given, want }) => {
    const { pod, main } = volumes({ "/data": { source: given } });
    expect(pod("volumes")).toEqual([{ name: "data", ...(want as object) }]);
    expect(main("volumeMounts")).toEqual([{ name: "data", mountPath: "/data" }]);
  });

  test("Sub-path mounts work correctly", () => {
    expect(volumes({ "/data": { source: "pvc:x", path: "sub/dir" } }).main("volumeMounts")).toEqual([
      { name: "data", mountPath: "/data", subPath: "sub/dir" },
    ]);
  });

  test("Read-only flag propagates", () => {
    const mounts = volumes({ "/a": { source: "pvc:x", readOnly: true }, "/b": { source: "pvc:y", readOnly: false } }).main("volumeMounts");
    expect(mounts).toEqual([
      { name: "a", mountPath: "/a", readOnly: true },
      { name: "b", mountPath: "/b", readOnly: false },
    ]);
  });

  test("a resource of type volume is mounted by its ref, and created when it has a size", () => {
    const { pod, find } = volumes(
      { "/data": { source: "${resources.data.ref}" }, "/tmp": { source: "${resources.scratch.ref}" } },
      {
        data: { type: "volume", id: "shop-data", params: { size: "10Gi", storageClass: "fast" } },
        scratch: { type: "volume", class: "emptydir" },
      },
    );
    expect(pod("volumes")).toEqual([
      { name: "data", persistentVolumeClaim: { claimName: "shop-data" } },
      { name: "tmp", emptyDir: {} },
    ]);
    expect(find("PersistentVolumeClaim")).toMatchObject({
      metadata: { name: "shop-data", namespace: "prod" },
      spec: { accessModes: ["ReadWriteOnce"], storageClassName: "fast", resources: { requests: { storage: "10Gi" } } },
    });
  });
});

describe("names of volumes", () => {
  const names = (given: Readonly<Record<string, unknown>>) => {
    const all = (volumes(given).pod("volumes") as readonly { readonly name: string }[]).map(({ name }) => name);
    expect(new Set(all).size).toBe(all.length);
    for (const name of all) expect(name).toMatch(/^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/);
    return all;
  };

  test("are the paths, with '-' for '/'", () => expect(names({ "/var/lib/app": { source: "pvc:x" } })).toEqual(["var-lib-app"]));
  test("never clash with those of files", () => expect(names({ "/files": { source: "pvc:x" } })[0]).toMatch(/^files-[0-9a-f]{8}$/));
  test("that would clash get a hash", () =>
    expect(names({ "/a-b/c": { source: "pvc:x" }, "/a/b-c": { source: "pvc:y" } })).toHaveLength(2));
  test("are truncated, and illegal characters are replaced", () =>
    expect(
      names({ [`/${"long/".repeat(80)}end`]: { source: "pvc:a" }, "/Ünï/cödé": { source: "pvc:b" }, "/---": { source: "pvc:c" } }),
    ).toHaveLength(3));
});

test("containers that name the same source share the volume", () => {
  const containers = {
    a: { image: "a:1", volumes: { "/x": { source: "pvc:d" } } },
    b: { image: "b:1", volumes: { "/y": { source: "d" } } },
  };
  const { pod } = compiled({ containers });
  expect(pod("volumes")).toEqual([{ name: "x", persistentVolumeClaim: { claimName: "d" } }]);
  expect(pod("containers")).toMatchObject([
    { volumeMounts: [{ name: "x", mountPath: "/x" }] },
    { volumeMounts: [{ name: "x", mountPath: "/y" }] },
  ]);
});

test("containers share an empty directory of the same resource; others are separate per path", () => {
  const source = "${resources.scratch.ref}";
  const containers = {
    a: { image: "a:1", volumes: { "/x": { source }, "/own": { source: "emptydir:" } } },
    b: { image: "b:1", volumes: { "/y": { source } } },
  };
  const { pod } = compiled({ containers, resources: { scratch: { type: "volume", class: "emptydir" } } });
  expect(pod("volumes")).toHaveLength(2);
});

test("the same path with different sources in three containers makes three volumes", () => {
  const containers = Object.fromEntries(
    ["a", "b", "c"].map((name) => [name, { image: "i:1", volumes: { "/data": { source: `pvc:${name}` } } }]),
  );
  const made = compiled({ containers }).pod("volumes") as readonly { readonly name: string }[];
  expect(new Set(made.map(({ name }) => name)).size).toBe(3);
});

test("a volume may have the mount path from which a files volume would get its name", () => {
  const containers = {
    main: { image: "a:1", files: { "/f": { content: "x" } }, volumes: { "/main-files": { source: "pvc:x" } } },
    side: { image: "b:1" },
  };
  const made = compiled({ containers }).pod("volumes") as readonly { readonly name: string }[];
  expect(new Set(made.map(({ name }) => name)).size).toBe(2);
});

test("a volume and a file cannot have the same path", () => {
  expect(mistakes(mainContainer({ files: { "/x": { content: "" } }, volumes: { "/x": { source: "pvc:a" } } }))).toEqual([
    `spec.containers.main.volumes["/x"]: invalid volume mount at '/x': a file of the container has the same path`,
  ]);
});
