export { serveHttp } from "./serve-http.ts";
