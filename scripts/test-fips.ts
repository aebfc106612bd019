/**
 * `npm run test:fips`: the suite of `npm test` under the OpenSSL FIPS provider; arguments narrow it.
 *
 * Debian's provider is FIPS-capable, not certified. Without one the lane prints the reason in one line and passes, without counts.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freshDist } from "./build/fresh-dist.ts";
import { fetchModule } from "./fips/fetch-module.ts";
import { findModule, SYSTEM_MODULES, type FipsSetup } from "./fips/find-module.ts";
import { fipsEnvironment } from "./fips/openssl-config.ts";
import { cacheFolder } from "./process/cache-folder.ts";
import { projectRoot } from "./process/project.ts";
import { formatCounts } from "./vitest/counts.ts";
import { runVitest } from "./vitest/run-vitest.ts";

const scratch = await mkdtemp(join(tmpdir(), "lattice-fips-lane-"));
try {
  const cached = join(cacheFolder(process.env), `fips-${process.platform}-${process.arch}`, "fips.so");
  const setup = await findModule({ env: process.env, scratch, cached, system: SYSTEM_MODULES, fetch: (target) => fetchModule(target) });
  if (setup.ok) await runLane(setup.value);
  else console.log(`FIPS lane ${setup.error.kind === "broken" ? "failed" : "skipped"}: ${setup.error.message}`);
  if (!setup.ok && setup.error.kind === "broken") process.exitCode = 1;
} finally {
  await rm(scratch, { recursive: true, force: true });
}

async function runLane({ module, config }: FipsSetup): Promise<void> {
  console.log(`FIPS provider: ${module}`);
  const args = ["--config", join(projectRoot, "scripts/fips/vitest.fips.config.ts"), ...process.argv.slice(2)];
  const dist = process.argv.length > 2 ? {} : { LATTICE_TEST_DIST: await freshDist() };
  const { code, counts } = await runVitest({ root: projectRoot, args, env: { ...fipsEnvironment(process.env, config), ...dist } });
  console.log(`\nran under the OpenSSL FIPS provider ${module}\n${formatCounts(counts)}`);
  process.exitCode = code === 0 && counts.failed === 0 ? 0 : 1;
}
