/**
 * Reads Score v1b1 files as LatticeServices. Legal Score that Lattice does not support is an error with its path.
 *
 * Two special cases: a resource without an `id` belongs to its workload alone, so it gets an id from both names; and
 * Score cannot express which workloads may call a service, so an annotation on a resource declares it.
 */
import { base64OfBytes, err, textOfBytes, type Result } from "#base";
import { LATTICE_API_VERSION, parseLatticeService, type LatticeService } from "#crds";
import { field, type Json, type JsonObject } from "#kube";
import { settingsOf, type ScoreSettings } from "./score/annotations.ts";
import type { ScoreError } from "./score/error.ts";
import { scorePlace } from "./score/place.ts";
import { checkScore, pathText, type ScoreContainer, type ScoreResource, type ScoreWorkload } from "./score/schema.ts";
import { latticeJson, latticeText, type TextContext } from "./score/text.ts";
import { upgradeScore } from "./score/upgrade.ts";

/** The apiVersion of Score files. */
const SCORE_API_VERSION = "score.dev/v1b1";

const DIRECTION = "lattice.dev/direction";

/**
 * Whether a document is a Score file, of this version or of another.
 *
 * @example isScore({ apiVersion: "score.dev/v1b1", metadata: { name: "web" } }) // true
 */
export function isScore(value: Json): boolean {
  const apiVersion = field(value, "apiVersion");
  return typeof apiVersion === "string" && apiVersion.startsWith("score.dev/");
}

/** How a Score file is read. */
export type ScoreOptions = {
  /** Reads what `files.*.source` names; absent: such a file is an error. As Score specifies, text files are templates. */
  readonly readFile?: (source: string) => Result<Uint8Array, string>;
  /** The image of a container whose image is "."; absent or undefined: such a container is an error. */
  readonly image?: (workload: string, container: string) => string | undefined;
};

/**
 * Converts a Score file to a LatticeService, or returns all its mistakes, each with its path in the Score file.
 *
 * @example
 * const service = parseScore({ apiVersion: "score.dev/v1b1", metadata: { name: "web" }, containers: { main: { image: "registry.example.com/web:1.0" } } });
 * if (service.ok) world.put(service.value);
 */
export function parseScore(value: Json, options: ScoreOptions = {}): Result<LatticeService, readonly ScoreError[]> {
  const apiVersion = field(value, "apiVersion");
  if (apiVersion !== SCORE_API_VERSION)
    return err([{ kind: "invalid", path: "apiVersion", message: `must be ${SCORE_API_VERSION}, which is the version that Lattice reads` }]);
  const upgraded = upgradeScore(value);
  const checked = checkScore(upgraded.value);
  if ("errors" in checked) return err([...upgraded.errors, ...checked.errors]);
  const translation = new Translation(checked.workload, options);
  const raw = translation.run();
  const errors = [...upgraded.errors, ...translation.errors];
  const parsed = parseLatticeService(raw);
  if (!parsed.ok) {
    errors.push(...parsed.error.map(({ path, message }) => ({ kind: "unsupported" as const, path: scorePlace(path), message })));
  }
  return parsed.ok && errors.length === 0 ? parsed : err(errors);
}

/** The translation of one file; collects its mistakes. */
class Translation {
  readonly errors: ScoreError[] = [];
  readonly #workload: ScoreWorkload;
  readonly #options: ScoreOptions;
  readonly #context: TextContext;
  readonly #settings: ScoreSettings;

  constructor(workload: ScoreWorkload, options: ScoreOptions) {
    this.#workload = workload;
    this.#options = options;
    this.#context = { metadata: workload.metadata };
    this.#settings = settingsOf(workload.metadata.annotations);
  }

  run(): JsonObject {
    const { metadata, service, containers, resources = {} } = this.#workload;
    const { name, annotations } = metadata;
    for (const { key, message } of this.#settings.problems)
      this.errors.push({ kind: "invalid", path: pathText(["metadata", "annotations", key]), message });
    return {
      apiVersion: LATTICE_API_VERSION,
      kind: "LatticeService",
      metadata: { name, ...(annotations === undefined ? {} : { annotations }) },
      spec: {
        ...this.#settings.spec,
        containers: mapValues(containers, (container, at) => this.#container(at, container)),
        ...(Object.keys(resources).length === 0 ? {} : { resources: mapValues(resources, (one, at) => this.#resource(at, one)) }),
        ...(service?.ports === undefined ? {} : { service: { ports: service.ports } }),
      },
    };
  }

  #container(name: string, container: ScoreContainer): JsonObject {
    const { command, args, variables, files, volumes, resources } = container;
    const at = ["containers", name];
    const security = this.#settings.container;
    return {
      image: this.#image(at, name, container),
      ...(command === undefined ? {} : { command }),
      ...(args === undefined ? {} : { args }),
      ...(variables === undefined
        ? {}
        : { variables: mapValues(variables, (text, key) => this.#text([...at, "variables", key], text, this.#context)) }),
      ...(files === undefined ? {} : { files: mapValues(files, (file, path) => this.#file([...at, "files", path], file)) }),
      ...(volumes === undefined ? {} : { volumes: mapValues(volumes, (one, path) => this.#volume([...at, "volumes", path], one)) }),
      ...(resources === undefined ? {} : { resources }),
      ...(Object.keys(security).length === 0 ? {} : { securityContext: security }),
      ...this.#probes(container),
      ...this.#before(at, container),
    };
  }

  #image(at: readonly string[], container: string, { image }: ScoreContainer): string {
    if (image !== ".") return image;
    const workload = this.#workload.metadata.name;
    const given = this.#options.image?.(workload, container);
    if (given === undefined)
      this.#unsupported([...at, "image"], `"." is filled in by a build; give it with --image ${workload}=IMAGE, or write the image here`);
    return given ?? image;
  }

  /** With both handlers Score prefers exec. */
  #probes({ livenessProbe, readinessProbe }: ScoreContainer): JsonObject {
    const chosen = (probe: ScoreContainer["livenessProbe"]): JsonObject =>
      probe?.exec === undefined ? { httpGet: probe?.httpGet } : { exec: probe.exec };
    return {
      ...(livenessProbe === undefined ? {} : { livenessProbe: chosen(livenessProbe) }),
      ...(readinessProbe === undefined ? {} : { readinessProbe: chosen(readinessProbe) }),
    };
  }

  /** In Lattice a container that others wait for runs to completion, unless it has a probe: then it is a sidecar. */
  #before(at: readonly string[], container: ScoreContainer): JsonObject {
    const entries = Object.entries(container.before ?? {});
    if (entries.length === 0) return {};
    const probe = this.#probes(container);
    const probed = probe["readinessProbe"] ?? probe["livenessProbe"];
    for (const [other, { ready }] of entries) {
      const place = [...at, "before", other, "ready"];
      if (ready === "complete" && probed !== undefined)
        this.#unsupported(place, "a container that runs to its end cannot have probes: Kubernetes refuses them on init containers");
      if (ready !== "complete" && probed === undefined)
        this.#unsupported(
          place,
          `${ready} needs a readinessProbe or a livenessProbe: without one Lattice treats the container as one that runs to completion`,
        );
    }
    const healthy = entries.some(([, { ready }]) => ready === "healthy");
    // only the startup probe of a sidecar delays the containers after it
    return { before: entries.map(([other]) => other), ...(healthy && probed !== undefined ? { startupProbe: probed } : {}) };
  }

  #file(at: readonly string[], file: NonNullable<ScoreContainer["files"]>[string]): JsonObject {
    const { content, source, binaryContent, mode, noExpand = false } = file;
    const rest = { ...(mode === undefined ? {} : { mode }), ...(noExpand ? { noExpand } : {}) };
    const text = (value: string) => (noExpand ? value : this.#text(at, value, this.#context));
    if (source === undefined)
      return {
        ...rest,
        ...(binaryContent === undefined ? {} : { binaryContent }),
        ...(content === undefined ? {} : { content: text(content) }),
      };
    const read = this.#options.readFile?.(source) ?? err("cannot be read here: only the command line has files");
    if (!read.ok) {
      this.errors.push({ kind: "invalid", path: pathText([...at, "source"]), message: read.error });
      return { ...rest, content: "" };
    }
    const decoded = textOfBytes(read.value);
    return decoded.ok ? { ...rest, content: text(decoded.value) } : { ...rest, binaryContent: base64OfBytes(read.value) };
  }

  #volume(at: readonly string[], { source, path, readOnly }: NonNullable<ScoreContainer["volumes"]>[string]): JsonObject {
    return {
      source: this.#text([...at, "source"], source, { ...this.#context, wholeResource: "ref" }),
      ...(path === undefined ? {} : { path: path.replace(/^\/+/, "") }),
      ...(readOnly === undefined ? {} : { readOnly }),
    };
  }

  #resource(name: string, { type, class: variant, id, metadata, params }: ScoreResource): JsonObject {
    const direction = metadata?.annotations?.[DIRECTION];
    const own = id ?? (CALLED_BY_NAME.has(type) ? undefined : `${this.#workload.metadata.name}-${name}`);
    // the class "default" of Score is no class in Lattice
    const kind = variant === "default" ? undefined : variant;
    const sized = type === "volume" && id === undefined && kind === undefined ? { size: OWN_VOLUME, ...params } : params;
    return {
      type,
      ...(direction === undefined ? {} : { direction }),
      ...(own === undefined ? {} : { id: own }),
      ...(kind === undefined ? {} : { class: kind }),
      ...(metadata === undefined ? {} : { metadata: metadata as JsonObject }),
      ...(sized === undefined ? {} : { params: this.#params(["resources", name, "params"], sized) }),
    };
  }

  #params(at: readonly string[], params: Readonly<Record<string, unknown>>): Json {
    const translated = latticeJson(params as JsonObject, this.#context);
    if (translated.ok) return translated.value;
    this.#unsupported(at, translated.error);
    return {};
  }

  #text(at: readonly string[], text: string, context: TextContext): string {
    const translated = latticeText(text, context);
    if (translated.ok) return translated.value;
    this.#unsupported(at, translated.error);
    return "";
  }

  #unsupported(path: readonly string[], message: string): void {
    this.errors.push({ kind: "unsupported", path: pathText(path), message });
  }
}

/** Default size of a volume that belongs to its workload alone: Score has no param for it. */
const OWN_VOLUME = "1Gi";

/** A resource of type service is another workload, which has its own name. */
const CALLED_BY_NAME = new Set(["service", "external-service"]);

function mapValues<T>(map: Readonly<Record<string, T>>, change: (value: T, key: string) => Json): JsonObject {
  return Object.fromEntries(Object.entries(map).map(([key, value]) => [key, change(value, key)]));
}
