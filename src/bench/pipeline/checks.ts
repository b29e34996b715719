import type { Problem } from './stage.ts';

/** Collects the findings of a check. */
export interface Checks {
  /** `reason` says what is required, `detail` what was found. */
  need(isSo: boolean, reason: string, detail?: string): void;
  readonly problems: readonly Problem[];
}

const LONGEST_DETAIL = 200;

export function createChecks(): Checks {
  const problems: Problem[] = [];
  return {
    need: (isSo, reason, detail) => {
      if (!isSo) problems.push({ reason, ...(detail ? { detail: detail.slice(0, LONGEST_DETAIL) } : {}) });
    },
    problems,
  };
}
