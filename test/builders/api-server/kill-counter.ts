/** One object with a counter that several clients increment by read and update with resourceVersion: no increment is lost or counted twice. */
import { fieldAt } from "#kube";
import { metaText } from "./kill-kinds.ts";
import { IN_DOUBT, type Exchange } from "./exchange.ts";

const PATH = "/api/v1/namespaces/default/configmaps";
const NAME = "counter";
const [CREATED, CONFLICT, MISSING] = [201, 409, 404];

export class CountedObject {
  acknowledged = 0;
  readonly wrong: string[] = [];
  /** Increments without a response when the server was killed. */
  #doubts = 0;
  #uid = "";

  async count(exchange: Exchange): Promise<void> {
    for (;;) {
      const response = await exchange.request({ method: "GET", path: `${PATH}/${NAME}` });
      if (response === IN_DOUBT || response.code === MISSING) return;
      const next = { ...response.body, data: { count: String(Number(fieldAt(response.body, "data", "count")) + 1) } };
      const written = await exchange.request({ method: "PUT", path: `${PATH}/${NAME}`, body: next });
      if (written === IN_DOUBT) this.#doubts += 1;
      if (written === IN_DOUBT) return;
      if (written.code === 200) this.acknowledged += 1;
      else if (written.code !== CONFLICT) this.wrong.push(`counting: ${JSON.stringify(written)}`);
    }
  }

  /** Call only while no client increments. */
  async look(exchange: Exchange): Promise<void> {
    const body = { metadata: { name: NAME }, data: { count: "0" } };
    const made = await exchange.request({ method: "POST", path: PATH, body });
    const response = await exchange.request({ method: "GET", path: `${PATH}/${NAME}` });
    if (made === IN_DOUBT || response === IN_DOUBT) return;
    if ((made.code === CREATED) !== (this.#uid === "")) this.wrong.push(`the counter is gone: ${made.code}`);
    this.#uid = metaText(response.body, "uid");
    const count = Number(fieldAt(response.body, "data", "count"));
    if (count < this.acknowledged || count > this.acknowledged + this.#doubts) {
      this.wrong.push(`counted to ${count}; confirmed ${this.acknowledged}, in doubt ${this.#doubts}`);
    }
    this.#doubts = 0;
    this.acknowledged = count;
  }
}
