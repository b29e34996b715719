/** When a process that exited is restarted, and how much of it is logged. */
export interface RestartRule {
  /** The pause after the first exit; it doubles with every further one. */
  readonly firstMs: number;
  readonly longestMs: number;
  /** Consecutive exits that are logged. */
  readonly told: number;
  /** After this uptime the next exit counts as the first. */
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
  /** `last`: further exits are not logged. */
  readonly telling: 'each' | 'last' | 'none';
}

/** `inARow`: consecutive exits before this one; `upMs`: its uptime, 0 when it never was up. */
export function planRestart(inARow: number, upMs: number, rule: RestartRule = RESTART_RULE): Restart {
  const now = upMs >= rule.wellAfterMs ? 1 : inARow + 1;
  const pauseMs = Math.min(rule.longestMs, rule.firstMs * 2 ** Math.min(now - 1, 30));
  return { inARow: now, pauseMs, telling: now < rule.told ? 'each' : now === rule.told ? 'last' : 'none' };
}
