import { fuzz } from "/work/main/test/builders/api-server/fuzz.ts";
const [seed, n] = process.argv.slice(2).map(Number);
const t = performance.now();
const r = await fuzz({ seed: seed!, requests: n! });
console.log(performance.now() - t, r.byStatus, r.slowestMs, r.slowest.slice(0, 300));
console.log([...r.known].join("\n"));
console.log("WRONG", r.wrong.length);
const seen = new Set();
for (const w of r.wrong) { const k = w.split("\n").slice(1, 3).join("|").slice(0, 200); if (seen.has(k)) continue; seen.add(k); console.log(w); if (seen.size > 12) break; }
