/** A service of the leader whose starts and ends a test controls, and which records them. */
import { err, ok, sleep, type Result } from "#base";
import type { BoundLeaderService, LeaderServiceContext, LeaderServiceDeclaration } from "#controller-runtime";

export type RecordedInstance = {
  readonly context: LeaderServiceContext;
  /** From the call of `start` on, until the service has freed everything. */
  readonly exists: () => boolean;
  readonly closes: () => number;
  /** Ends it early. */
  readonly fail: (reason: string) => void;
};

export type RecordedServiceOptions = Partial<Omit<LeaderServiceDeclaration, "name">> & {
  /** Undefined: it starts. */
  readonly failsWith?: () => string | undefined;
  readonly startMs?: number;
  readonly closeMs?: number;
  /** It goes on as if no signal existed, and closing it takes its whole time. */
  readonly ignoresSignal?: boolean;
  readonly onStart?: (context: LeaderServiceContext) => void;
  readonly onEnd?: () => void;
};

export class RecordedService {
  readonly service: BoundLeaderService;
  readonly instances: RecordedInstance[] = [];
  readonly #options: RecordedServiceOptions;

  constructor(name: string, options: RecordedServiceOptions = {}) {
    const { failsWith: _f, startMs: _s, closeMs: _c, ignoresSignal: _i, onStart: _os, onEnd: _oe, ...declaration } = options;
    this.#options = options;
    this.service = { name, ...declaration, start: (context) => this.#start(context) };
  }

  /** The instances that have not ended. */
  get existing(): number {
    return this.instances.filter((instance) => instance.exists()).length;
  }

  async #start(context: LeaderServiceContext) {
    const { startMs = 0, failsWith, onStart, onEnd, ignoresSignal = false } = this.#options;
    let exists = true;
    let closes = 0;
    let resolveEnded: (result: Result<void, string>) => void = () => {};
    const ended = new Promise<Result<void, string>>((resolve) => (resolveEnded = resolve));
    this.instances.push({ context, exists: () => exists, closes: () => closes, fail: (reason) => resolveEnded(err(reason)) });
    onStart?.(context);
    const end = () => {
      if (exists) onEnd?.();
      exists = false;
    };
    const never = new AbortController().signal;
    const inTime = startMs === 0 || (await sleep(context.clock, startMs, ignoresSignal ? never : context.signal));
    const failure = inTime ? failsWith?.() : "stopped while it started";
    if (failure !== undefined) {
      end();
      return err(failure);
    }
    const close = async () => {
      closes += 1;
      const { closeMs = 0 } = this.#options;
      if (closeMs > 0) await sleep(context.clock, closeMs, never);
      end();
      resolveEnded(ok(undefined));
    };
    return ok({ ended, close });
  }
}
