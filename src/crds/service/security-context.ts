/** `securityContext` of a container and of the pod, as Kubernetes has it for Linux. Absent fields get Lattice's own, stricter defaults. */
import { listOf, object } from "../collections.ts";
import { anyText, flag, integer, oneOf, patterned, text } from "../fields.ts";
import { withRules } from "../rules.ts";

const MOST_ID = 2_147_483_647;

const capability = () =>
  patterned("A capability, such as NET_BIND_SERVICE.", {
    pattern: "^[A-Z][A-Z0-9_]*$",
    max: 64,
    message: "must be a capability in upper case and without CAP_, such as NET_BIND_SERVICE",
  });

const capabilities = () =>
  object("Linux capabilities.", {
    add: listOf("Capabilities to add.", capability(), { max: 64, type: "atomic" }).optional(),
    drop: listOf("Capabilities to take away; ALL takes all.", capability(), { max: 64, type: "atomic" }).optional(),
  });

/** The schema of seccomp and AppArmor profiles. */
function profile(description: string) {
  const fields = object(description, {
    type: oneOf("Which profile applies.", ["RuntimeDefault", "Unconfined", "Localhost"]),
    localhostProfile: text("Profile on the node, for type Localhost.", 512).optional(),
  });
  return withRules(fields, [
    {
      cel: "(self.type == 'Localhost') == has(self.localhostProfile)",
      message: "is required for type Localhost, and only for that",
      field: ["localhostProfile"],
      holds: ({ type, localhostProfile }) => (type === "Localhost") === (localhostProfile !== undefined),
    },
  ]);
}

const seLinuxLabel = (description: string) => anyText(description, 256);

export const securityContext = () =>
  object("What the container's processes may do.", {
    runAsUser: integer("User that processes run as.", 0, MOST_ID).optional(),
    runAsGroup: integer("Group that processes run as.", 0, MOST_ID).optional(),
    runAsNonRoot: flag("Whether the container must not run as root.").optional(),
    readOnlyRootFilesystem: flag("Whether the root file system is read-only.").optional(),
    allowPrivilegeEscalation: flag("Whether a process may gain more rights than its parent.").optional(),
    privileged: flag("Whether processes have all rights of root on the node.").optional(),
    capabilities: capabilities().optional(),
    seccompProfile: profile("Which system calls are allowed.").optional(),
    appArmorProfile: profile("AppArmor's profile.").optional(),
    seLinuxOptions: object("SELinux labels.", {
      user: seLinuxLabel("User label.").optional(),
      role: seLinuxLabel("Role label.").optional(),
      type: seLinuxLabel("Type label.").optional(),
      level: seLinuxLabel("Level label.").optional(),
    }).optional(),
    procMount: oneOf("How /proc is mounted.", ["Default", "Unmasked"]).optional(),
  });

/** Settings for all containers of the pod; a container's own fields override them. */
export const podSecurityContext = () =>
  object("User and groups of the pod's processes, for all containers.", {
    runAsUser: integer("User that processes run as; absent: the image's, which must be a number and not 0.", 0, MOST_ID).optional(),
    runAsGroup: integer("Group that processes run as; absent: the image's.", 0, MOST_ID).optional(),
    fsGroup: integer(
      "Group that volumes belong to; absent: 65532 for a pod with claims or with files that not all users may read, else none.",
      0,
      MOST_ID,
    ).optional(),
    fsGroupChangePolicy: oneOf("When the files of a claim are given to fsGroup; absent: OnRootMismatch.", [
      "OnRootMismatch",
      "Always",
    ]).optional(),
    supplementalGroups: listOf("Further groups of the processes.", integer("A group.", 0, MOST_ID), { max: 32, type: "atomic" }).optional(),
  });
