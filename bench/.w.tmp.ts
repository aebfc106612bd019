import { weather } from "../test/stories/runtime-under-faults/world.ts";
const t = performance.now();
const [seed, objects, rounds] = process.argv.slice(2).map(Number);
const r = await weather({ seed: seed!, objects: objects!, rounds: rounds!, workers: 8 });
console.log(Math.round(performance.now() - t), "ms", r.wrong.length, r.wrong.slice(0, 5), r.leaked, r.faults, r.mostAtOnce);
