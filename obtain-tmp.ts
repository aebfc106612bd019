import { obtainPrograms } from "/work/wt/realcapi/scripts/kube/obtain-binaries.ts";
import { CAPI_BINARIES } from "/work/wt/realcapi/scripts/kube/versions.ts";
console.log(await obtainPrograms(CAPI_BINARIES, { beside: "/nonexistent", environment: process.env, say: (line) => console.log(line) }));
