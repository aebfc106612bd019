import { fuzz } from "./fuzz.ts";
const [seed, n] = process.argv.slice(2).map(Number);
const seen = new Set();
let total = 0,
  count = 0;
const st = new Map();
for (let s = seed!; count < n!; s++) {
  const r = await fuzz({ seed: s, requests: 3000 });
  count += 3000;
  for (const [k, v] of r.byStatus) st.set(k, (st.get(k) ?? 0) + v);
  if (r.slowestMs > 300) console.log("SLOW", r.slowestMs, r.slowest.slice(0, 300));
  for (const w of r.wrong) {
    total++;
    const lines = w.split("\n");
    const at = lines.findIndex((l) => l.startsWith("  threw") || /^ {2}\S/.test(l));
    const k = lines
      .slice(at, at + 3)
      .join("|")
      .replaceAll(/\d+/g, "")
      .slice(0, 160);
    if (seen.has(k)) continue;
    seen.add(k);
    console.log(lines[0]!.replaceAll(/(\{"a":|\[){20,}/g, "DEEP").slice(0, 700));
    console.log(
      lines
        .slice(at, at + 5)
        .join("\n")
        .slice(0, 700),
    );
  }
}
console.log(st, "WRONG", total, "distinct", seen.size);
