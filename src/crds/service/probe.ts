/**
 * Probes of a container with the fields of Kubernetes: a misspelt `initialDelaySecond` is an error and not ignored.
 *
 * A probe without a handler is valid in patch mode only, where it changes the timing of an existing probe of the Deployment.
 */
import { listOf, object } from "../collections.ts";
import { anyText, host, integer, oneOf, patterned, portNumber, portNumberOrName, text } from "../fields.ts";
import { atMostOneOf, withRules } from "../rules.ts";

export const PROBE_HANDLERS = ["httpGet", "tcpSocket", "exec", "grpc"] as const;

const header = () =>
  object("One header.", {
    name: patterned("Name of the header.", { pattern: "^[-A-Za-z0-9]+$", max: 256, message: "must be a header's name, such as X-Probe" }),
    value: anyText("Value of the header.", 4_096),
  });

const httpGet = () =>
  object("Healthy when a GET answers with a status from 200 to 399.", {
    path: text("Path of the request; absent: /.", 2_048).optional(),
    port: portNumberOrName("Port of the container: a number, or the name of one of service.ports."),
    host: host("Host to connect to; absent: the pod.").optional(),
    scheme: oneOf("Scheme of the request.", ["HTTP", "HTTPS"]).optional(),
    httpHeaders: listOf("Headers of the request.", header(), { max: 32, type: "atomic" }).optional(),
  });

const tcpSocket = () =>
  object("Healthy when the port accepts a connection.", {
    port: portNumberOrName("Port of the container: a number, or the name of one of service.ports."),
    host: host("Host to connect to; absent: the pod.").optional(),
  });

const exec = () =>
  object("Healthy when the command exits with 0.", {
    command: listOf("Command and arguments; no shell.", anyText("One argument.", 4_096), { max: 256, type: "atomic", notEmpty: true }),
  });

const grpc = () =>
  object("Healthy when the gRPC health service reports it.", {
    port: portNumber("Port of the gRPC server."),
    service: anyText("Service that is asked for; absent: the server as a whole.", 256).optional(),
  });

const seconds = (description: string, min: number) => integer(description, min, 86_400);

function probeFields(description: string, maxSuccessThreshold: number) {
  return object(description, {
    httpGet: httpGet().optional(),
    tcpSocket: tcpSocket().optional(),
    exec: exec().optional(),
    grpc: grpc().optional(),
    initialDelaySeconds: seconds("Wait before the first probe.", 0).optional(),
    periodSeconds: seconds("Time between probes; absent: 10.", 1).optional(),
    timeoutSeconds: seconds("Time that a probe may take; absent: 1.", 1).optional(),
    successThreshold: integer("Successes in a row that make it healthy; absent: 1.", 1, maxSuccessThreshold).optional(),
    failureThreshold: integer("Failures in a row that make it unhealthy; absent: 3.", 1, 10_000).optional(),
    terminationGracePeriodSeconds: seconds("Time to end after a failed probe; absent: the pod's.", 1).optional(),
  });
}

function probe(description: string, maxSuccessThreshold: number) {
  return withRules(probeFields(description, maxSuccessThreshold), [atMostOneOf(PROBE_HANDLERS)]);
}

/** Kubernetes requires a success threshold of 1 for probes whose failure restarts the container. */
export const livenessProbe = () => probe("When it fails, the container is started again.", 1);
export const startupProbe = () => probe("Until it succeeds, the other probes wait; when it fails, the container is started again.", 1);
export const readinessProbe = () => probe("While it fails, the pod gets no traffic.", 10_000);
