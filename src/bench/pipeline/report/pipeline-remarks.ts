import { FEWEST_SEEDS } from '../../report/explain-difference.ts';
import { count, counted } from '../../report/numbers.ts';
import { isCutShort } from '../pairs-in.ts';
import type { PipelineJournal } from '../pipeline-journal.ts';
import { finishedSeeds } from './finished-seeds.ts';

/** What a reader must know before the numbers. */
export function pipelineRemarks(journal: PipelineJournal): readonly string[] {
  const { head, runs } = journal;
  const { seeds, conditions } = head;
  const out: string[] = [...head.notes];
  const all = seeds.length * conditions.length * head.runs;
  if (runs.length === 0) return [...out, 'No run has been finished yet.'];
  if (runs.length < all)
    out.push(
      `${count(finishedSeeds(journal))} of ${counted(seeds.length, 'seed')} are finished (${count(runs.length)} of ${count(all)} runs): the run was stopped or is under way, and goes on with --run ${head.run}.`,
    );
  if (head.runs === 1)
    out.push('One run of each: the first only teaches, so that there is nothing to compare yet.');
  else if (conditions.length === 1)
    out.push(`Only ${conditions[0]} was run: there is nothing to compare it with.`);
  const cut = runs.filter(isCutShort).length;
  if (cut > 0)
    out.push(
      `${counted(cut, 'run')} of ${count(runs.length)} met with an outage that cut a stage off. That says nothing about the work: they are left out of figures and comparisons.`,
    );
  if (seeds.length < FEWEST_SEEDS)
    out.push(
      `${counted(seeds.length, 'seed')}: fewer than ${FEWEST_SEEDS} say little about how the next run will go.`,
    );
  if (head.policy === 'scripted')
    out.push(
      'The scripted researcher keeps what it is taught with a known chance: this shows whether lessons arrive, and nothing about how a real model takes them.',
    );
  return out;
}
