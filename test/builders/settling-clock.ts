/**
 * A FakeClock for tests with an API server in this process: before and after each step, pending requests and watch events get the
 * turns of the event loop that they need. The server yields, so an event may take more than the one turn that FakeClock waits.
 */
import { FakeClock } from "#base";

const TURNS = 4;

export class SettlingClock extends FakeClock {
  override async advance(ms: number): Promise<void> {
    await settle();
    await super.advance(ms);
    await settle();
  }
}

/** Its wall clock can step, as when a machine corrects its time; timers and `monotonic` do not notice. */
export class SteppingClock extends SettlingClock {
  #stepped = 0;

  step(ms: number): void {
    this.#stepped += ms;
  }

  override now(): number {
    return super.now() + this.#stepped;
  }
}

async function settle(): Promise<void> {
  for (let turn = 0; turn < TURNS; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}
