/** Annotations of a service are copied to its Deployment and its pods, unless they would change how the node or the mesh treats the pod. */
import { describe, expect, test } from "vitest";
import { fieldAt } from "#kube";
import { compiled, mainContainer, mistakes } from "../../../test/builders/service-input.ts";

const given = { "prometheus.io/scrape": "true", "example.com/owner": "shop" };

test("annotations are on the Deployment and on its pods, together with the config hash", () => {
  const { find } = compiled(mainContainer({ variables: { A: "b" } }, { annotations: given }));
  const deployment = find("Deployment");
  expect(deployment?.metadata.annotations).toEqual(given);
  expect(fieldAt(deployment, "spec", "template", "metadata", "annotations")).toEqual({
    ...given,
    "lattice.dev/config-hash": expect.stringMatching(/^sha256:/) as string,
  });
});

test("annotations in the metadata of the LatticeService are not copied: tools use them to track it", () => {
  const { find } = compiled(mainContainer({}), { metadata: { annotations: { "argocd.argoproj.io/tracking-id": "shop" } } });
  expect(JSON.stringify(find("Deployment"))).not.toContain("tracking-id");
});

describe("an annotation", () => {
  const found = (key: string, podSecurity: "restricted" | "privileged" = "restricted") =>
    mistakes(mainContainer({}, { annotations: { [key]: "x" } }), { grants: { podSecurity } });

  test.each([
    "container.apparmor.security.beta.kubernetes.io/main",
    "ambient.istio.io/redirection",
    "policy.cilium.io/proxy-visibility",
    "k8s.v1.cni.cncf.io/networks",
    "io.katacontainers.config.hypervisor.kernel_params",
  ])("%s needs a grant", (key) => {
    expect(found(key)).toEqual([
      `spec.annotations["${key}"]: must not be set, since it can change how a node or the mesh treats the pod, at pod security level restricted\nchange it, or set spec.isolation.podSecurity to privileged in a LatticeEnvironment that the service names`,
    ]);
    expect(found(key, "privileged")).toEqual([]);
  });

  test.each(["kubernetes.io/change-cause", "cluster-autoscaler.kubernetes.io/safe-to-evict", "app.kubernetes.io/version", "plain"])(
    "%s needs none",
    (key) => expect(found(key)).toEqual([]),
  );

  test("of Lattice is refused at every level", () => {
    expect(found("lattice.dev/config-hash", "privileged")).toEqual([
      'spec.annotations["lattice.dev/config-hash"]: is written by Lattice; remove it',
    ]);
  });
});
