/** One object that several clients count up, each by reading it and writing it back under its version: no count is lost, none happens twice. */
import { fieldAt } from "#kube";
import { metaText } from "./kill-kinds.ts";
import { IN_DOUBT, type Exchange } from "./exchange.ts";

const PATH = "/api/v1/namespaces/default/configmaps";
const NAME = "counter";
const [CREATED, CONFLICT, MISSING] = [201, 409, 404];

export class CountedObject {
  acknowledged = 0;
  readonly wrong: string[] = [];
  /** Counts that were under way when the server died. */
  #doubts = 0;
  #uid = "";

  async count(exchange: Exchange): Promise<void> {
    for (;;) {
      const told = await exchange.ask({ method: "GET", path: `${PATH}/${NAME}` });
      if (told === IN_DOUBT || told.code === MISSING) return;
      const next = { ...told.body, data: { count: String(Number(fieldAt(told.body, "data", "count")) + 1) } };
      const written = await exchange.ask({ method: "PUT", path: `${PATH}/${NAME}`, body: next });
      if (written === IN_DOUBT) this.#doubts += 1;
      if (written === IN_DOUBT) return;
      if (written.code === 200) this.acknowledged += 1;
      else if (written.code !== CONFLICT) this.wrong.push(`counting: ${JSON.stringify(written)}`);
    }
  }

  /** While nobody counts. */
  async look(exchange: Exchange): Promise<void> {
    const body = { metadata: { name: NAME }, data: { count: "0" } };
    const made = await exchange.ask({ method: "POST", path: PATH, body });
    const told = await exchange.ask({ method: "GET", path: `${PATH}/${NAME}` });
    if (made === IN_DOUBT || told === IN_DOUBT) return;
    if ((made.code === CREATED) !== (this.#uid === "")) this.wrong.push(`the counter is gone: ${made.code}`);
    this.#uid = metaText(told.body, "uid");
    const count = Number(fieldAt(told.body, "data", "count"));
    if (count < this.acknowledged || count > this.acknowledged + this.#doubts) {
      this.wrong.push(`counted to ${count}; confirmed ${this.acknowledged}, in doubt ${this.#doubts}`);
    }
    this.#doubts = 0;
    this.acknowledged = count;
  }
}
