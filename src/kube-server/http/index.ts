export { serveHttp } from "./serve-http.ts";
export { certificateFor, type ServingCertificate } from "./serving-certificate.ts";
