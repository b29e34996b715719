/** The slowest average at which a body may arrive, once the grace period is over. */
export interface BodyPaceRule {
  readonly graceMs: number;
  readonly bytesPerSecond: number;
}

/** One body that is being received. */
export interface BodyProgress {
  received(bytes: number): void;
  /** The body is complete, refused or abandoned. */
  end(): void;
}

export interface BodyPace {
  /** `onSlow` is called at most once, when the average since the start is below the rule. */
  watch(rule: BodyPaceRule, onSlow: () => void): BodyProgress;
}

const SWEEP_MS = 500;

interface WatchedBody extends BodyProgress {
  readonly rule: BodyPaceRule;
  readonly startedAt: number;
  readonly onSlow: () => void;
  bytes: number;
}

/**
 * Finds bodies that arrive too slowly. One timer for all of them, which runs only while there are any; `monotonic` is
 * read once per body and once per sweep.
 */
export function createBodyPace(monotonic: () => number): BodyPace {
  const bodies = new Set<WatchedBody>();
  let timer: NodeJS.Timeout | undefined;

  const sweep = (): void => {
    const now = monotonic();
    for (const body of bodies) {
      const { rule, startedAt, bytes, onSlow } = body;
      const elapsed = now - startedAt;
      if (elapsed <= rule.graceMs || bytes * 1000 >= rule.bytesPerSecond * elapsed) continue;
      bodies.delete(body);
      onSlow();
    }
    if (bodies.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  };

  return {
    watch: (rule, onSlow) => {
      const body: WatchedBody = {
        rule,
        onSlow,
        startedAt: monotonic(),
        bytes: 0,
        received: (bytes) => {
          body.bytes += bytes;
        },
        end: () => void bodies.delete(body),
      };
      bodies.add(body);
      if (timer === undefined) {
        timer = setInterval(sweep, SWEEP_MS);
        timer.unref();
      }
      return body;
    },
  };
}
