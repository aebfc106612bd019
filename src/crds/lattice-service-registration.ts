/** LatticeServiceRegistration: services in a Git repository, synchronised by Flux. Fields that Flux also has are the same as in Flux. */
import { listOf, object } from "./collections.ts";
import { anyText, dnsLabel, duration, flag, patterned, text, timestampField } from "./fields.ts";
import { defineKind, type ObjectOf } from "./kind.ts";
import { ageColumn, messageColumn, phaseColumn, readyColumn } from "./manifest.ts";
import { localRef } from "./references.ts";
import { exactlyOneOf, withRules } from "./rules.ts";
import { SIMPLE_PHASES, statusOf } from "./status.ts";

const gitName = (description: string) =>
  patterned(description, {
    pattern: "^[^\\s~^:?*\\[\\\\]+$",
    max: 255,
    message: "must be a name that Git accepts: without spaces and ~ ^ : ? * [ \\",
  });

const ref = () =>
  withRules(
    object("What to check out; absent: the branch master, as in Flux.", {
      branch: gitName("Branch to follow.").optional(),
      tag: gitName("Tag to check out.").optional(),
      semver: text('Range of versions; the newest tag in it is checked out, such as ">=1.2.0 <2.0.0".', 255).optional(),
      commit: patterned("Commit to check out.", {
        pattern: "^([0-9a-f]{40}|[0-9a-f]{64})$",
        max: 64,
        message: "must be a whole commit hash: 40 or 64 hexadecimal digits",
      }).optional(),
    }),
    [exactlyOneOf(["branch", "tag", "semver", "commit"])],
  );

const url = () =>
  withRules(
    patterned("URL of the repository, with https, http or ssh.", {
      pattern: "^(https?|ssh)://[^\\s]+$",
      max: 2_048,
      message: "must be a URL such as https://github.com/example/services or ssh://git@github.com/example/services",
    }),
    [
      {
        cel: "!self.matches(r'^https?://[^/]*@')",
        message: "must not hold credentials, which everyone who may read this object would see; put them into git.secretRef",
        reason: "FieldValueForbidden",
        holds: (value) => !/^https?:\/\/[^/]*@/.test(value),
      },
    ],
  );

const path = () =>
  withRules(text("Folder in the repository, such as ./services; absent: its root.", 1_024), [
    {
      cel: "!self.split('/').exists(part, part == '..')",
      message: 'must stay inside the repository: it may not have ".." in it',
      holds: (value) => !value.split("/").includes(".."),
    },
  ]);

const spec = () =>
  object("Where the services are, and how they are kept up to date.", {
    git: object("The repository.", {
      url: url(),
      ref: ref().optional(),
      secretRef: localRef("Secret with the credentials, as Flux reads it.").optional(),
    }),
    path: path().optional(),
    interval: duration("How often the repository is read.").default("1m"),
    prune: flag("Whether what is no longer in the repository is removed.").default(true),
    suspend: flag("Whether to leave everything as it is for now.").optional(),
    environments: listOf(
      "Environments that the services are for; absent: this object's namespace only.",
      dnsLabel("Name of a LatticeEnvironment."),
      {
        max: 64,
        type: "set",
      },
    ).optional(),
  });

const status = () =>
  statusOf(SIMPLE_PHASES, {
    revision: anyText("Revision that is applied, as Flux reports it.", 512).optional(),
    lastApplied: timestampField("When it was applied.").optional(),
  });

/** Services from a Git repository. */
export type LatticeServiceRegistration = ObjectOf<"LatticeServiceRegistration", ReturnType<typeof spec>, ReturnType<typeof status>>;

export const latticeServiceRegistrationKind = defineKind<LatticeServiceRegistration>({
  kind: "LatticeServiceRegistration",
  plural: "latticeserviceregistrations",
  shortName: "lsr",
  namespaced: true,
  purpose: "Services that live in a Git repository, brought in through Flux.",
  spec,
  status,
  columns: [
    phaseColumn,
    readyColumn,
    { name: "URL", type: "string", jsonPath: ".spec.git.url", description: "Repository." },
    { name: "Revision", type: "string", jsonPath: ".status.revision", description: "Revision that is applied." },
    { name: "Suspended", type: "boolean", jsonPath: ".spec.suspend", description: "Whether it is left alone.", priority: 1 },
    messageColumn,
    ageColumn,
  ],
});

export const latticeServiceRegistrations = latticeServiceRegistrationKind.resource;
export const parseLatticeServiceRegistration = latticeServiceRegistrationKind.parse;
