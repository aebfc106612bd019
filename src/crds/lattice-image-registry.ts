/** LatticeImageRegistry: pull credentials and mirrors of an image registry. The credentials are in the named Secret. */
import { listOf, object } from "./collections.ts";
import { patterned } from "./fields.ts";
import { defineKind, type ObjectOf } from "./kind.ts";
import { ageColumn, messageColumn, phaseColumn, readyColumn } from "./manifest.ts";
import { labelSelector, namespacedRef } from "./references.ts";
import { withRules } from "./rules.ts";
import { count, SIMPLE_PHASES, statusOf } from "./status.ts";

const HOST_AND_PORT = "[a-z0-9]([-a-z0-9.]*[a-z0-9])?(:[0-9]{1,5})?";

const imagePrefix = (description: string) =>
  patterned(description, {
    pattern: `^${HOST_AND_PORT}(/[a-z0-9]([-a-z0-9._/]*[a-z0-9])?)?$`,
    max: 512,
    message: "must be the beginning of an image's name without scheme, such as docker.io or registry.example.com/mirror",
  });

const mirror = () =>
  withRules(
    object("One mirror.", {
      from: imagePrefix("Beginning of the names of images, such as docker.io/library."),
      to: imagePrefix("What it is replaced with, such as registry.example.com/library."),
    }),
    [{ cel: "self.from != self.to", message: "from and to must differ", field: ["to"], holds: ({ from, to }) => from !== to }],
  );

const spec = () =>
  object("The registry.", {
    host: patterned("Host of the registry, with a port if it needs one.", {
      pattern: `^${HOST_AND_PORT}$`,
      max: 259,
      message: "must be a host without scheme and path, such as registry.example.com:5000",
    }),
    credentials: object("How to log in; absent: without logging in.", {
      secretRef: namespacedRef("Secret of type kubernetes.io/dockerconfigjson."),
    }).optional(),
    mirrors: listOf("Where images are pulled from instead; the first that fits is used.", mirror(), {
      max: 64,
      type: { keys: ["from"] },
    }).optional(),
    namespaceSelector: labelSelector("Namespaces that get the credentials; absent: all that Lattice manages.").optional(),
  });

const status = () => statusOf(SIMPLE_PHASES, { placedIn: count("Number of namespaces that have the credentials.").optional() });

/** Pull credentials and mirrors of an image registry. */
export type LatticeImageRegistry = ObjectOf<"LatticeImageRegistry", ReturnType<typeof spec>, ReturnType<typeof status>>;

export const latticeImageRegistryKind = defineKind<LatticeImageRegistry>({
  kind: "LatticeImageRegistry",
  plural: "latticeimageregistries",
  shortName: "lir",
  namespaced: false,
  purpose: "Credentials to pull images with, and mirrors to pull them from.",
  spec,
  status,
  columns: [
    phaseColumn,
    readyColumn,
    { name: "Host", type: "string", jsonPath: ".spec.host", description: "Host of the registry." },
    { name: "Placed", type: "integer", jsonPath: ".status.placedIn", description: "Namespaces that have the credentials." },
    messageColumn,
    ageColumn,
  ],
});

export const latticeImageRegistries = latticeImageRegistryKind.resource;
export const parseLatticeImageRegistry = latticeImageRegistryKind.parse;
