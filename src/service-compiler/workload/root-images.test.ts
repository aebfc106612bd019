import { describe, expect, test } from "vitest";
import { compiled } from "../../../test/builders/service-input.ts";
import { rootImage } from "./root-images.ts";

describe("an image that runs as root", () => {
  const rows: readonly { name: string; given: string; want: string | undefined }[] = [
    { name: "is known by its name", given: "nginx", want: "nginx" },
    { name: "is known with a tag", given: "nginx:1.29", want: "nginx" },
    { name: "is known with registry, library and digest", given: "docker.io/library/redis@sha256:00", want: "redis" },
    { name: "is not one that runs as another user", given: "nginxinc/nginx-unprivileged:1.29", want: undefined },
    { name: "is not one of another registry", given: "registry.example.com/nginx:1", want: undefined },
  ];
  test.each(rows)("$name", ({ given, want }) => expect(rootImage(given)).toBe(want));
});

describe("a container that the kubelet would refuse", () => {
  const warnings = (main: object, spec: object = {}) =>
    compiled({ containers: { main }, ...spec }, { grants: { podSecurity: "baseline" } }).warnings;
  test("gives a warning with the remedy", () => {
    expect(warnings({ image: "nginx:1.29" })).toEqual([
      "spec.containers.main.image: nginx runs as root, and the pod must not (runAsNonRoot): set securityContext.runAsUser, or use nginxinc/nginx-unprivileged",
    ]);
    expect(warnings({ image: "redis:8" })[0]).toMatch(/: set securityContext\.runAsUser$/);
  });
  test("gives no warning with a user of the container or the pod, or where root is allowed", () => {
    expect(warnings({ image: "nginx", securityContext: { runAsUser: 101 } })).toEqual([]);
    expect(warnings({ image: "nginx" }, { securityContext: { runAsUser: 101 } })).toEqual([]);
    expect(warnings({ image: "nginx", securityContext: { runAsNonRoot: false } })).toEqual([]);
  });
});
