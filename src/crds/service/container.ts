/** A container of a LatticeService: image, command, variables, files, volumes and limits. */
import { dnsLabelKeys, envNameKeys, later, listOf, mapOf, object, pathKeys } from "../collections.ts";
import { anyText, dnsLabel, flag, patterned, text } from "../fields.ts";
import { quantityMap } from "../references.ts";
import { exactlyOneOf, withRules } from "../rules.ts";
import { livenessProbe, readinessProbe, startupProbe } from "./probe.ts";
import { securityContext } from "./security-context.ts";

/** The size limits of a ConfigMap or Secret, as text and in base64. */
const MOST_TEXT = 1_048_576;
const MOST_BASE64 = 1_398_104;

const file = () =>
  withRules(
    object("A file in the container.", {
      content: anyText("Text of the file; ${…} is filled in.", MOST_TEXT).optional(),
      binaryContent: patterned("Bytes of the file, in base64.", {
        pattern: "^[A-Za-z0-9+/=\\r\\n]*$",
        max: MOST_BASE64,
        message: "must be base64",
      }).optional(),
      source: text(
        "File in the folder of the service file or below it, at most 1 MiB; an error in a cluster, which cannot read it.",
        4_096,
      ).optional(),
      mode: patterned('Permissions in octal, such as "0644"; in quotes.', {
        pattern: "^0?[0-7]{3}$",
        max: 4,
        message: 'must be three octal digits, such as "0644"',
      }).default("0644"),
      noExpand: flag("Whether ${…} is left as it is.").default(false),
    }),
    [exactlyOneOf(["content", "binaryContent", "source"])],
  );

const volume = () =>
  object("A volume in the container.", {
    source: text('Where it comes from, such as "pvc:data" or "${resources.data.ref}".', 512),
    path: text("Path inside the volume; absent: its root.", 512).optional(),
    readOnly: flag("Whether the container may only read it.").optional(),
  });

const argumentList = (description: string) => listOf(description, anyText("One argument.", 32_768), { max: 256, type: "atomic" });

const container = () =>
  object("A container.", {
    image: patterned("Image to run.", { pattern: "^[^\\s]+$", max: 512, message: "must be an image, such as nginx:1.29" }).optional(),
    command: argumentList("Entry point; absent: the image's.").optional(),
    args: argumentList("Arguments; absent: the image's.").optional(),
    before: listOf("Containers that wait for this one to be ready.", dnsLabel("Name of a container."), { max: 32, type: "set" }).optional(),
    variables: mapOf("Environment variables; ${…} is filled in.", anyText("Value; numbers in quotes.", MOST_TEXT), {
      max: 256,
      keys: envNameKeys,
    }).optional(),
    files: mapOf("Files, by absolute path.", file(), { max: 64, keys: pathKeys }).optional(),
    volumes: mapOf("Volumes, by absolute path.", volume(), { max: 64, keys: pathKeys }).optional(),
    resources: object("Compute resources.", {
      requests: quantityMap("What is set aside for the container, such as cpu: 100m.").optional(),
      limits: quantityMap("What the container may not exceed, such as memory: 1Gi.").optional(),
    }).optional(),
    livenessProbe: later(livenessProbe).optional(),
    readinessProbe: later(readinessProbe).optional(),
    startupProbe: later(startupProbe).optional(),
    securityContext: later(securityContext).optional(),
  });

export const containers = () =>
  mapOf("Containers, by name. Each needs an image, unless workloadRef is set.", container(), {
    max: 16,
    keys: dnsLabelKeys,
  });
