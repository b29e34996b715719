import type { CycleEnd } from './cycle.ts';
import type { LastTry } from './pauses.ts';

/** Why a cycle gave no lesson for its failures. Undefined: its turns could not be read. */
export function lastTryOf(end: CycleEnd | undefined): LastTry {
  if (end === undefined) return { cause: 'nothing', why: 'their turns cannot be read any more' };
  const { outcome, note, cause, judgements, learner } = end;
  if (outcome === 'refused') {
    const reasons = judgements.map(({ name, why }) => `${name}: ${why.join(', ')}`);
    return { cause: 'refused', why: reasons.join('; ') };
  }
  if (outcome === 'published' || outcome === 'queued')
    return { cause: 'not-cited', why: judgements.map(({ name }) => name).join(', ') };
  if (note !== undefined) return { cause: cause ?? 'nothing', why: note };
  return {
    cause: 'nothing',
    why:
      learner === 'distiller'
        ? 'without a model, lessons are written from what people say, and nobody said what was wrong'
        : 'nothing was found that would have prevented them',
  };
}

/** The first midnight after `now`, by the machine's local calendar: then a new daily budget begins. */
export function nextMidnight(now: number): number {
  const date = new Date(now);
  return new Date(date.getFullYear(), date.getMonth(), date.getDate() + 1).getTime();
}
