/** The exact policies of small meshes. */
import { describe, expect, test } from "vitest";
import { formatYamlDocuments } from "#kube";
import { ADMIN, allows, calls, HTTP, meshOf, service } from "../objects.test-support.ts";

const yaml = (mesh: ReturnType<typeof meshOf>, id: string) => formatYamlDocuments(mesh.policiesOf(id));

describe("without a waypoint", () => {
  const mesh = meshOf([
    service("prod/web", [calls("prod/api"), calls("prod/db-postgres", { managedPort: 5432 })], { routedPorts: [80] }),
    service("dev/job", [calls("prod/api", { ports: ["admin"] })]),
    service("prod/api", [allows("prod/web"), allows("dev/job")], { ports: [ADMIN, HTTP] }),
  ]);

  test("a caller with a route and a database", () =>
    expect(yaml(mesh, "prod/web")).toMatchInlineSnapshot(`
    "---
    apiVersion: security.istio.io/v1
    kind: AuthorizationPolicy
    metadata:
      name: web
      namespace: prod
      labels:
        app.kubernetes.io/name: web
        app.kubernetes.io/managed-by: lattice
    spec:
      action: ALLOW
      selector:
        matchLabels:
          lattice.dev/service: web
      rules:
        - from:
            - source:
                principals:
                  - cluster.local/ns/istio-ingress/sa/gateway-istio
          to:
            - operation:
                ports:
                  - '8080'
    ---
    apiVersion: cilium.io/v2
    kind: CiliumNetworkPolicy
    metadata:
      name: web
      namespace: prod
      labels:
        app.kubernetes.io/name: web
        app.kubernetes.io/managed-by: lattice
    spec:
      endpointSelector:
        matchLabels:
          lattice.dev/service: web
      ingress:
        - fromCIDR:
            - 169.254.7.127/32
        - fromEndpoints:
            - matchLabels:
                k8s:gateway.networking.k8s.io/gateway-name: gateway
                k8s:io.kubernetes.pod.namespace: istio-ingress
          toPorts:
            - ports:
                - port: '15008'
                  protocol: TCP
                - port: '8080'
                  protocol: TCP
      egress:
        - toEndpoints:
            - matchLabels:
                k8s:k8s-app: kube-dns
                k8s:io.kubernetes.pod.namespace: kube-system
          toPorts:
            - ports:
                - port: '53'
                  protocol: UDP
                - port: '53'
                  protocol: TCP
              rules:
                dns:
                  - matchPattern: '*'
        - toEndpoints:
            - matchLabels:
                k8s:lattice.dev/service: api
                k8s:io.kubernetes.pod.namespace: prod
          toPorts:
            - ports:
                - port: '15008'
                  protocol: TCP
                - port: '9000'
                  protocol: TCP
                - port: '8080'
                  protocol: TCP
        - toEndpoints:
            - matchLabels:
                k8s:app.kubernetes.io/name: db-postgres
                k8s:io.kubernetes.pod.namespace: prod
          toPorts:
            - ports:
                - port: '15008'
                  protocol: TCP
                - port: '5432'
                  protocol: TCP
    "
  `));
  test("a callee with two callers on different ports", () =>
    expect(yaml(mesh, "prod/api")).toMatchInlineSnapshot(`
    "---
    apiVersion: security.istio.io/v1
    kind: AuthorizationPolicy
    metadata:
      name: api
      namespace: prod
      labels:
        app.kubernetes.io/name: api
        app.kubernetes.io/managed-by: lattice
    spec:
      action: ALLOW
      selector:
        matchLabels:
          lattice.dev/service: api
      rules:
        - from:
            - source:
                principals:
                  - cluster.local/ns/dev/sa/job
          to:
            - operation:
                ports:
                  - '9000'
        - from:
            - source:
                principals:
                  - cluster.local/ns/prod/sa/web
          to:
            - operation:
                ports:
                  - '9000'
                  - '8080'
    ---
    apiVersion: cilium.io/v2
    kind: CiliumNetworkPolicy
    metadata:
      name: api
      namespace: prod
      labels:
        app.kubernetes.io/name: api
        app.kubernetes.io/managed-by: lattice
    spec:
      endpointSelector:
        matchLabels:
          lattice.dev/service: api
      ingress:
        - fromCIDR:
            - 169.254.7.127/32
        - fromEndpoints:
            - matchLabels:
                k8s:lattice.dev/service: job
                k8s:io.kubernetes.pod.namespace: dev
          toPorts:
            - ports:
                - port: '15008'
                  protocol: TCP
                - port: '9000'
                  protocol: TCP
        - fromEndpoints:
            - matchLabels:
                k8s:lattice.dev/service: web
                k8s:io.kubernetes.pod.namespace: prod
          toPorts:
            - ports:
                - port: '15008'
                  protocol: TCP
                - port: '9000'
                  protocol: TCP
                - port: '8080'
                  protocol: TCP
      egress:
        - toEndpoints:
            - matchLabels:
                k8s:k8s-app: kube-dns
                k8s:io.kubernetes.pod.namespace: kube-system
          toPorts:
            - ports:
                - port: '53'
                  protocol: UDP
                - port: '53'
                  protocol: TCP
              rules:
                dns:
                  - matchPattern: '*'
    "
  `));
  test("a caller from another namespace without callers of its own", () =>
    expect(yaml(mesh, "dev/job")).toMatchInlineSnapshot(`
    "---
    apiVersion: cilium.io/v2
    kind: CiliumNetworkPolicy
    metadata:
      name: job
      namespace: dev
      labels:
        app.kubernetes.io/name: job
        app.kubernetes.io/managed-by: lattice
    spec:
      endpointSelector:
        matchLabels:
          lattice.dev/service: job
      ingress:
        - fromCIDR:
            - 169.254.7.127/32
      egress:
        - toEndpoints:
            - matchLabels:
                k8s:k8s-app: kube-dns
                k8s:io.kubernetes.pod.namespace: kube-system
          toPorts:
            - ports:
                - port: '53'
                  protocol: UDP
                - port: '53'
                  protocol: TCP
              rules:
                dns:
                  - matchPattern: '*'
        - toEndpoints:
            - matchLabels:
                k8s:lattice.dev/service: api
                k8s:io.kubernetes.pod.namespace: prod
          toPorts:
            - ports:
                - port: '15008'
                  protocol: TCP
                - port: '9000'
                  protocol: TCP
    "
  `));
  test("the objects of a namespace", () =>
    expect(formatYamlDocuments(mesh.namespaceObjects("prod", { "lattice.dev/environment": "prod" }))).toMatchInlineSnapshot(`
      "---
      apiVersion: v1
      kind: Namespace
      metadata:
        name: prod
        labels:
          app.kubernetes.io/managed-by: lattice
          istio.io/dataplane-mode: ambient
          lattice.dev/environment: prod
      ---
      apiVersion: cilium.io/v2
      kind: CiliumNetworkPolicy
      metadata:
        name: lattice-default-deny
        namespace: prod
        labels:
          app.kubernetes.io/name: lattice-default-deny
          app.kubernetes.io/managed-by: lattice
      spec:
        endpointSelector: {}
        ingress:
          - {}
        egress:
          - {}
      ---
      apiVersion: security.istio.io/v1
      kind: AuthorizationPolicy
      metadata:
        name: lattice-default-deny
        namespace: prod
        labels:
          app.kubernetes.io/name: lattice-default-deny
          app.kubernetes.io/managed-by: lattice
      spec: {}
      ---
      apiVersion: security.istio.io/v1
      kind: PeerAuthentication
      metadata:
        name: lattice-default-deny
        namespace: prod
        labels:
          app.kubernetes.io/name: lattice-default-deny
          app.kubernetes.io/managed-by: lattice
      spec:
        mtls:
          mode: STRICT
      "
    `));
});
