/**
 * Loads Node's own modules in a bundle on first use, and reads only the exports that are used.
 *
 * An `import` of node:http reads every export once, and the getter of `WebSocket` among them loads undici: 30 ms of a start. node:tls costs
 * 12 ms and node:crypto 5, and most commands need neither.
 */
import type { Plugin } from "esbuild";

const LATER = "node-later";
/**
 * Modules that are slow to load, as a whole or when all exports are read. Node loads most of the others before a program starts.
 * node:module is in the list because an older Node does not have all of its exports: an `import` of a missing one would fail before the
 * version is checked.
 */
const HEAVY = new Set(
  ["child_process", "crypto", "fs", "fs/promises", "http", "http2", "https", "module", "net", "stream/consumers", "tls", "zlib"].map(
    (name) => `node:${name}`,
  ),
);

/** An `import` of it reads every property of the process, which opens its three streams. It is a global anyway. */
const PROCESS = "node:process";

export const nodeModules: Plugin = {
  name: "node-modules",
  setup(build) {
    build.onResolve({ filter: /^node:/ }, ({ path, kind, namespace }) => {
      if (kind === "import-statement" && namespace !== LATER && (HEAVY.has(path) || path === PROCESS))
        return { path, namespace: LATER, sideEffects: false };
      return { path, external: true, sideEffects: false };
    });
    build.onLoad({ filter: /.*/, namespace: LATER }, async ({ path }) => ({
      contents: path === PROCESS ? "module.exports = globalThis.process;" : loadLater(path, await namesOf(path)),
    }));
  },
};

/** CommonJS, because only for its exports the bundler keeps each property access where it is written. */
function loadLater(path: string, names: readonly string[]): string {
  const getters = names.map((name) => `${JSON.stringify(name)}: { enumerable: true, get: () => load()[${JSON.stringify(name)}] }`);
  return `let loaded;
const load = () => (loaded ??= require(${JSON.stringify(path)}));
module.exports = Object.defineProperties({}, { ${getters.join(", ")} });`;
}

async function namesOf(path: string): Promise<readonly string[]> {
  const all = (await import(path)) as Readonly<Record<string, unknown>>;
  return Object.keys(all).filter((name) => name !== "default");
}
