/** Annotations of a Score file: those of Lattice are settings, those of other tools reach the workload. */
import { describe, expect, test } from "vitest";
import { expectOk } from "#base";
import { parseScore } from "../score.ts";

const read = (annotations: Readonly<Record<string, string>>) =>
  parseScore({ apiVersion: "score.dev/v1b1", metadata: { name: "web", annotations }, containers: { main: { image: "a" }, side: { image: "b" } } }); // prettier-ignore
const mistakes = (annotations: Readonly<Record<string, string>>) => {
  const result = read(annotations);
  return result.ok ? [] : result.error.map(({ path, message }) => `${path}: ${message}`);
};

test("annotations of other tools are copied to the workload; those of Lattice, kubectl and Score's own tools are not", () => {
  const { spec } = expectOk(
    read({
      "prometheus.io/scrape": "true",
      "lattice.dev/environment": "prod",
      "kubectl.kubernetes.io/last-applied-configuration": "{}",
      "k8s.score.dev/kind": "Deployment",
      "compose.score.dev/publish-port": "1",
    }),
  );
  expect(spec.annotations).toEqual({ "prometheus.io/scrape": "true" });
  expect(expectOk(read({ "lattice.dev/environment": "prod" })).spec.annotations).toBeUndefined();
});

test("a Score file chooses user, group, read-only root file system and capabilities", () => {
  const { spec } = expectOk(
    read({
      "lattice.dev/run-as-user": "101",
      "lattice.dev/run-as-group": "102",
      "lattice.dev/fs-group": "103",
      "lattice.dev/read-only-root-filesystem": "true",
      "lattice.dev/add-capabilities": "NET_BIND_SERVICE, CHOWN",
    }),
  );
  expect(spec.securityContext).toEqual({ runAsUser: 101, runAsGroup: 102, fsGroup: 103 });
  const own = { readOnlyRootFilesystem: true, capabilities: { add: ["NET_BIND_SERVICE", "CHOWN"] } };
  expect([spec.containers?.["main"]?.securityContext, spec.containers?.["side"]?.securityContext]).toEqual([own, own]);
});

describe("mistakes", () => {
  const rows: readonly { name: string; given: Readonly<Record<string, string>>; want: string }[] = [
    { name: "a user that is not a number", given: { "lattice.dev/run-as-user": "nginx" }, want: 'metadata.annotations["lattice.dev/run-as-user"]: must be a number, such as "101"' },
    { name: "a flag that is neither true nor false", given: { "lattice.dev/read-only-root-filesystem": "yes" }, want: 'metadata.annotations["lattice.dev/read-only-root-filesystem"]: must be "true" or "false"' },
    { name: "a capability in lower case", given: { "lattice.dev/add-capabilities": "chown" }, want: 'metadata.annotations["lattice.dev/add-capabilities"]: must be capabilities, such as "NET_BIND_SERVICE" or "CHOWN, FOWNER"' },
    { name: "an annotation of Lattice that does not exist", given: { "lattice.dev/run-as-usr": "1" }, want: 'metadata.annotations["lattice.dev/run-as-usr"]: is not an annotation of Lattice; did you mean "lattice.dev/run-as-user"?' },
  ]; // prettier-ignore
  test.each(rows)("$name", ({ given, want }) => expect(mistakes(given)).toEqual([want]));
});
