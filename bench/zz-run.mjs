import { run } from "/work/main/bench/zz-tmp.ts";
for (const r of await run()) if (/grows|memory per/.test(r.name)) console.log(r.name, r.value.toFixed(1), r.unit, r.ratio.toFixed(2)+"x", r.note);
