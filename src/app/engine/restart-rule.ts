/** When something that dies is started again, and how much is said about it. */
export interface RestartRule {
  /** The pause after the first death; it doubles with each that follows at once. */
  readonly firstMs: number;
  readonly longestMs: number;
  /** Deaths in a row that are told. */
  readonly told: number;
  /** Having been up for so long, it is well again: its next death is a first one. */
  readonly wellAfterMs: number;
}

export const RESTART_RULE: RestartRule = {
  firstMs: 100,
  longestMs: 60_000,
  told: 5,
  wellAfterMs: 60_000,
};

export interface Restart {
  readonly inARow: number;
  readonly pauseMs: number;
  /** `last`: what follows is not told any more. */
  readonly telling: 'each' | 'last' | 'none';
}

/** `inARow`: deaths before this one; `upMs`: how long it was up, 0 when it never was. */
export function planRestart(inARow: number, upMs: number, rule: RestartRule = RESTART_RULE): Restart {
  const now = upMs >= rule.wellAfterMs ? 1 : inARow + 1;
  const pauseMs = Math.min(rule.longestMs, rule.firstMs * 2 ** Math.min(now - 1, 30));
  return { inARow: now, pauseMs, telling: now < rule.told ? 'each' : now === rule.told ? 'last' : 'none' };
}
