import { compact, type JsonObject } from '../../core/json.ts';
import type { Lesson } from '../../core/lesson.ts';
import { lessonSubject } from '../../core/trial.ts';
import type { MomentSums } from '../../stats/moments.ts';
import { pairedInterval } from '../../stats/paired-test.ts';
import { plural } from '../../text/phrases.ts';
import type { TrialRecord, Trials } from './fold-trials.ts';

/** The trial of the text that a lesson has now. */
export const trialOf = ({ id, revision }: Lesson, trials: Pick<Trials, 'of'>): TrialRecord | undefined =>
  trials.of(lessonSubject(id, revision));

/** Lessons on trial that only their owner can decide about: what was measured of them, if anything, decides nothing. */
export const isForOwner = ({ end }: Pick<TrialRecord, 'end'>): boolean =>
  end?.outcome === 'untested' || end?.outcome === 'no-difference';

/** Where a trial stands, in words; a sentence without its subject. Undefined for a lesson without a trial. */
export function describeTrial(trial: TrialRecord | undefined): string | undefined {
  if (trial === undefined) return undefined;
  const { end, begun } = trial;
  const pairs = begun.tasks + begun.replay;
  if (end === undefined)
    return pairs === 0 ? 'waits for its first test' : `being tested: ${trialFigures(trial)}`;
  const isWeak = end.outcome !== 'untested' && trial.differences.tasks.n === 0 && begun.replay > 0;
  const words = { helpful: 'helps', harmful: 'harms', 'no-difference': 'no verdict', untested: '' }[
    end.outcome
  ];
  const weak = isWeak ? ' (weaker evidence: a judge compared answers, no task was checked)' : '';
  return words === '' ? end.why : `${words}: ${end.why}${weak}`;
}

/** For `lessons show --json` and the like. */
export function encodeTrial(trial: TrialRecord): JsonObject {
  const { place, openedAt, until, begun, roots, used, end, differences } = trial;
  const mean = ({ n, sum }: { readonly n: number; readonly sum: number }): number | undefined =>
    n === 0 ? undefined : sum / n;
  return compact({
    place,
    since: new Date(openedAt).toISOString(),
    until: new Date(until).toISOString(),
    pairs: begun.tasks + begun.replay,
    tasks: roots.size,
    difference: mean(differences.tasks),
    preference: mean(differences.replay),
    identity: trial.identity && mean(trial.identity),
    tokens: used.tokens,
    outcome: end?.outcome,
    why: end?.why,
    words: describeTrial(trial),
  });
}

/** `+0.31 [+0.12, +0.48] in 44 pairs of attempts at 9 tasks`. */
export function trialFigures({ differences, roots, identity }: TrialRecord): string {
  const told = (['tasks', 'replay'] as const).flatMap((method) => {
    const sums = differences[method];
    if (sums.n === 0) return [];
    const what =
      method === 'tasks'
        ? plural(sums.n, 'pair of attempts', 'pairs of attempts')
        : plural(sums.n, 'pair of answers that a judge compared', 'pairs of answers that a judge compared');
    return [`${figures(sums)} in ${what}`];
  });
  if (told.length === 0) return 'by real sessions with and without it';
  const kept = identity === undefined ? '' : `; how far it keeps the identity: ${figures(identity)}`;
  return `${told.join(', ')} at ${plural(roots.size, 'task')}${kept}`;
}

function figures(sums: MomentSums): string {
  const { low, high } = pairedInterval(sums, 0.05);
  return `${signed(sums.sum / sums.n)} [${signed(low)}, ${signed(high)}]`;
}

const signed = (value: number): string => `${value < 0 ? '−' : '+'}${Math.abs(value).toFixed(2)}`;
