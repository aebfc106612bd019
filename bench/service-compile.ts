/**
 * One service through templates (two containers with ten variables each, two files), workload and policies, on one core. The ratio is how
 * many times faster than the newest Lattice in Rust, as it was measured on such a machine: about 100 µs a service.
 */
import { compileAll, World, worldSettings } from "#compile";
import type { BenchResult } from "../scripts/bench/bench.ts";
import { bestMs, timed } from "./support/best-time.ts";
import { ringServices } from "./support/ring-services.ts";

const SERVICES = 300;
const WORLDS = 10;
const ROUNDS = 12;
const RUST_US = 100;
const AGAINST = "Lattice in Rust, as measured (100 µs)";

export async function run(): Promise<readonly BenchResult[]> {
  const services = ringServices({ count: SERVICES, degree: 3, full: true });
  const filled = () => {
    const world = new World(worldSettings());
    for (const service of services) world.put(service);
    return world;
  };
  const compileMs = bestMs(ROUNDS, () => inWorlds(() => compileEach(filled())));
  const allMs = bestMs(ROUNDS, () => inWorlds(() => timed(() => void compileAll(filled()))));
  const perSecond = (ms: number) => SERVICES / (ms / 1_000);
  const ratio = (ms: number) => RUST_US / ((ms / SERVICES) * 1_000);
  const note = `speed, more is better and 1 is 10,000 a second; ${SERVICES} services, best of ${ROUNDS} rounds`;
  return [
    { name: "compile", value: perSecond(compileMs), unit: "services/s", ratio: ratio(compileMs), against: AGAINST, note },
    {
      name: "put into a new world, compile, and warn",
      value: perSecond(allMs),
      unit: "services/s",
      ratio: ratio(allMs),
      against: AGAINST,
      note: "all that lattice compile does between reading and printing",
    },
  ];
}

/** Of one world, the mean of several: a clock that ticks every few milliseconds is too coarse for one. */
function inWorlds(measure: () => number): number {
  let sum = 0;
  for (let world = 0; world < WORLDS; world += 1) sum += measure();
  return sum / WORLDS;
}

function compileEach(world: World): number {
  const keys = world.services();
  return timed(() => {
    for (const key of keys) if (!world.compile(key).ok) throw new Error(`${key} was not compiled`);
  });
}
