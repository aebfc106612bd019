/** The exact policies of a namespace with a waypoint. */
import { describe, expect, test } from "vitest";
import { formatYamlDocuments } from "#kube";
import { allows, calls, meshOf, service } from "../objects.test-support.ts";

const yaml = (mesh: ReturnType<typeof meshOf>, id: string) => formatYamlDocuments(mesh.policiesOf(id));

describe("with a waypoint, because a callee limits methods or paths", () => {
  const requests = { methods: ["GET"], paths: ["/api/*"] };
  const mesh = meshOf([
    service("dev/web", [calls("prod/api")]),
    service("prod/api", [allows("dev/web", { requests })], { routedPorts: [80] }),
    service("prod/quiet"),
  ]);

  test("the rules target the Service, and the workload allows the waypoint and the gateway", () =>
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
        targetRefs:
          - kind: Service
            group: ''
            name: api
        rules:
          - from:
              - source:
                  principals:
                    - cluster.local/ns/dev/sa/web
            to:
              - operation:
                  ports:
                    - '80'
                  methods:
                    - GET
                  paths:
                    - /api/*
          - from:
              - source:
                  principals:
                    - cluster.local/ns/istio-ingress/sa/gateway-istio
            to:
              - operation:
                  ports:
                    - '80'
      ---
      apiVersion: security.istio.io/v1
      kind: AuthorizationPolicy
      metadata:
        name: api-waypoint
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
                    - cluster.local/ns/prod/sa/waypoint
                    - cluster.local/ns/istio-ingress/sa/gateway-istio
            to:
              - operation:
                  ports:
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
                  k8s:lattice.dev/service: web
                  k8s:io.kubernetes.pod.namespace: dev
            toPorts:
              - ports:
                  - port: '15008'
                    protocol: TCP
                  - port: '8080'
                    protocol: TCP
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
          - fromEndpoints:
              - matchLabels:
                  k8s:gateway.networking.k8s.io/gateway-name: waypoint
                  k8s:io.kubernetes.pod.namespace: prod
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
      "
    `));
  test("the caller reaches the waypoint", () =>
    expect(yaml(mesh, "dev/web")).toMatchInlineSnapshot(`
    "---
    apiVersion: cilium.io/v2
    kind: CiliumNetworkPolicy
    metadata:
      name: web
      namespace: dev
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
                - port: '8080'
                  protocol: TCP
        - toEndpoints:
            - matchLabels:
                k8s:gateway.networking.k8s.io/gateway-name: waypoint
                k8s:io.kubernetes.pod.namespace: prod
          toPorts:
            - ports:
                - port: '15008'
                  protocol: TCP
    "
  `));
  test("the waypoint allows only the calls that it forwards", () =>
    expect(formatYamlDocuments(mesh.namespaceObjects("prod"))).toMatchInlineSnapshot(`
      "---
      apiVersion: v1
      kind: Namespace
      metadata:
        name: prod
        labels:
          app.kubernetes.io/managed-by: lattice
          istio.io/dataplane-mode: ambient
          istio.io/use-waypoint: waypoint
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
      ---
      apiVersion: gateway.networking.k8s.io/v1
      kind: Gateway
      metadata:
        name: waypoint
        namespace: prod
        labels:
          app.kubernetes.io/name: waypoint
          app.kubernetes.io/managed-by: lattice
          istio.io/waypoint-for: service
      spec:
        gatewayClassName: istio-waypoint
        listeners:
          - name: mesh
            port: 15008
            protocol: HBONE
      ---
      apiVersion: security.istio.io/v1
      kind: AuthorizationPolicy
      metadata:
        name: lattice-default-deny-waypoint
        namespace: prod
        labels:
          app.kubernetes.io/name: waypoint
          app.kubernetes.io/managed-by: lattice
      spec:
        targetRefs:
          - kind: Gateway
            group: gateway.networking.k8s.io
            name: waypoint
      ---
      apiVersion: cilium.io/v2
      kind: CiliumNetworkPolicy
      metadata:
        name: waypoint
        namespace: prod
        labels:
          app.kubernetes.io/name: waypoint
          app.kubernetes.io/managed-by: lattice
      spec:
        endpointSelector:
          matchLabels:
            gateway.networking.k8s.io/gateway-name: waypoint
        ingress:
          - fromCIDR:
              - 169.254.7.127/32
          - fromEndpoints:
              - matchLabels:
                  k8s:lattice.dev/service: web
                  k8s:io.kubernetes.pod.namespace: dev
              - matchLabels:
                  k8s:gateway.networking.k8s.io/gateway-name: gateway
                  k8s:io.kubernetes.pod.namespace: istio-ingress
            toPorts:
              - ports:
                  - port: '15008'
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
                  k8s:app: istiod
                  k8s:io.kubernetes.pod.namespace: istio-system
            toPorts:
              - ports:
                  - port: '15012'
                    protocol: TCP
          - toEndpoints:
              - matchLabels:
                  k8s:lattice.dev/service: api
                  k8s:io.kubernetes.pod.namespace: prod
            toPorts:
              - ports:
                  - port: '15008'
                    protocol: TCP
      "
    `));
  test("only that namespace has a waypoint", () => expect([mesh.hasWaypoint("prod"), mesh.hasWaypoint("dev")]).toEqual([true, false]));
});

describe("a namespace has a waypoint", () => {
  const has = (...nodes: Parameters<typeof meshOf>[0]) => meshOf(nodes).hasWaypoint("prod");
  const requests = { methods: [], paths: [] };
  test("when its environment requests one", () =>
    expect(meshOf([], { waypointWanted: (name) => name === "prod" }).hasWaypoint("prod")).toBe(true));
  test("when a service in it is a canary", () => expect(has(service("prod/a", [], { canary: true }))).toBe(true));
  test("when an inbound resource has methods or paths, even an empty list", () =>
    expect(has(service("prod/a", [allows("prod/b", { requests })]))).toBe(true));
  test("not when an outbound resource does", () => expect(has(service("prod/a", [calls("prod/b", { requests })]))).toBe(false));
  test("not because another namespace has one", () => expect(has(service("dev/a", [], { canary: true }), service("prod/a"))).toBe(false));
  test("until the last service that needs it is removed", () => {
    const mesh = meshOf([service("prod/a", [], { canary: true }), service("prod/b", [], { canary: true })]);
    mesh.remove("prod/a");
    expect(mesh.hasWaypoint("prod")).toBe(true);
    mesh.put(service("prod/b"));
    expect(mesh.hasWaypoint("prod")).toBe(false);
  });
});

test("a waypoint that is added or removed affects all services of its namespace and their callers", () => {
  const nodes = [
    service("prod/a", [allows("dev/x")]),
    service("prod/b"),
    service("dev/x", [calls("prod/a")]),
    service("dev/y"),
    service("dev/z", [calls("prod/c")]),
  ];
  const mesh = meshOf(nodes);
  const touched = mesh.put(service("prod/c", [], { canary: true }));
  expect([...touched.services].toSorted()).toEqual(["dev/x", "dev/z", "prod/a", "prod/b", "prod/c"]);
  expect([...touched.namespaces].toSorted()).toEqual(["dev", "prod"]);
  expect([...mesh.put(service("prod/c", [], { canary: true, routedPorts: [80] })).services].toSorted()).toEqual(["dev/z", "prod/c"]);
});
