import { expect, test } from "vitest";
import { fnv1, fnv1a, revisionHash, safeEncode, templateHash } from "./hashes.ts";
import { revisionData, templateIn } from "./history.ts";
import { sameTemplate } from "./template-equality.ts";

const bytes = (text: string) => new TextEncoder().encode(text);

test("FNV hashes match known values", () => {
  expect([fnv1(bytes("")), fnv1a(bytes("")), fnv1(bytes("foobar")), fnv1a(bytes("foobar"))]).toEqual([
    0x811c9dc5, 0x811c9dc5, 0x31f0b262, 0xbf9cf968,
  ]);
});

test("a StatefulSet's revision has the name that Kubernetes 1.36.3 gives it", () => {
  const container = {
    image: "db:1",
    imagePullPolicy: "IfNotPresent",
    name: "web",
    resources: {},
    terminationMessagePath: "/dev/termination-log",
    terminationMessagePolicy: "File",
  };
  const spec = {
    containers: [container],
    dnsPolicy: "ClusterFirst",
    restartPolicy: "Always",
    schedulerName: "default-scheduler",
    securityContext: {},
    terminationGracePeriodSeconds: 1,
  };
  const template = { $patch: "replace", metadata: { labels: { app: "web" } }, spec };
  expect(revisionHash({ spec: { template } }, 0)).toBe("7c799fd586");
});

test("the data of a revision has sorted keys: clients compare its bytes with those of Go's controllers", () => {
  const template = {
    spec: { restartPolicy: "Always", containers: [{ name: "web", image: "web:1" }] },
    metadata: { labels: { b: "1", a: "2" } },
  };
  expect(JSON.stringify(revisionData(template))).toBe(
    '{"spec":{"template":{"$patch":"replace","metadata":{"labels":{"a":"2","b":"1"}},"spec":{"containers":[{"image":"web:1","name":"web"}],"restartPolicy":"Always"}}}}',
  );
});

test("hashes contain no vowels, do not depend on the order of fields, and change with a collision", () => {
  expect(safeEncode(String(2 ** 32 - 1))).toMatch(/^[bcdfghjklmnpqrstvwxz2456789]+$/);
  expect(templateHash({ a: 1, b: 2 }, undefined)).toBe(templateHash({ b: 2, a: 1 }, undefined));
  expect(templateHash({ a: 1 }, 1)).not.toBe(templateHash({ a: 1 }, undefined));
  expect(revisionHash({ a: "<&>" }, 0)).not.toBe(revisionHash({ a: "<&>" }, 1));
});

test("templates are equal without their hash, with nulls, and with empty maps", () => {
  const containers = [{ name: "web", image: "web:1" }];
  const plain = { metadata: { labels: { app: "web" } }, spec: { containers } };
  const dressed = {
    metadata: { labels: { app: "web", "pod-template-hash": "x" }, annotations: {}, creationTimestamp: null },
    spec: { containers, nodeSelector: {} },
  };
  expect(sameTemplate(plain, dressed as never)).toBe(true);
  expect(sameTemplate(plain, { ...plain, spec: { containers: [{ name: "web", image: "web:2" }] } })).toBe(false);
  expect(sameTemplate({ spec: { containers } }, { spec: { containers } })).toBe(true);
});

test("a revision without a template has none", () => {
  const revision = { apiVersion: "apps/v1", kind: "ControllerRevision", metadata: { name: "r" }, revision: 1 };
  expect(templateIn(revision)).toBeUndefined();
  expect(templateIn({ ...revision, data: { spec: { template: { $patch: "replace", spec: { containers: [] } } } } })).toEqual({
    spec: { containers: [] },
  });
});
