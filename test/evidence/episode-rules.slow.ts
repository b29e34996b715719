import { expect, it } from 'vitest';
import { EPISODE_ENDINGS, type ReportedAttempt } from '../../src/core/evidence.ts';
import type { Fact } from '../../src/core/fact.ts';
import { appraise } from '../../src/evidence/appraise.ts';
import { foldEpisode, hasLearnableContrast, readEpisodeEvidence } from '../../src/evidence/episode.ts';
import { toRecords } from '../../src/record/records.ts';
import { createMemoryStore } from '../../src/record/store/memory-store.ts';
import { createRandom } from '../wire/random.ts';

/** The rules in plain words: see "Episodes" in docs/library.md. */
function expected(
  attempts: readonly (ReportedAttempt & { isOutage: boolean })[],
  outcome: string,
  note: string,
) {
  const outages = attempts.filter(({ isOutage }) => isOutage);
  const telling = attempts.filter(({ isOutage }) => !isOutage);
  const learns =
    telling.some(({ ok }) => !ok) && (telling.some(({ ok }) => ok) || (outcome === 'success' && note !== ''));
  if (outcome === 'success') return { verdict: 'success', learns };
  const [first] = outages;
  if (first !== undefined && !attempts.some(({ ok, action }) => ok && action === first.action))
    return { verdict: 'infrastructure', learns };
  if (outcome === 'failure') return { verdict: 'failure', learns };
  if (telling.length === 0) return { verdict: 'ambiguous', learns };
  const last = new Map(telling.map(({ action, ok }) => [action, ok]));
  const worked = [...last.values()].filter(Boolean).length * 2;
  const verdict = worked > last.size ? 'success' : worked < last.size ? 'failure' : 'ambiguous';
  return { verdict, learns };
}

it('a thousand random episodes are judged by the rules that the docs state', async () => {
  const random = createRandom(51);
  const pick = <T>(of: readonly T[]): T => of[Math.floor(random() * of.length)] as T;
  const verdicts = new Map<string, number>();
  for (let nth = 0; nth < 1000; nth++) {
    const id = `ep_${nth}`;
    const attempts = Array.from({ length: Math.floor(random() * 6) }, () => {
      const ok = random() < 0.5;
      const isOutage = !ok && random() < 0.2;
      const result = isOutage ? 'connect ECONNREFUSED 10.0.0.1:443' : ok ? 'done' : 'error: no such column';
      return { action: pick(['load', 'sort', 'store']), result, ok, isOutage };
    });
    const outcome = pick(EPISODE_ENDINGS);
    const note = pick(['', 'sorted before storing']);
    const facts: Fact[] = [
      ['episode_start', { task: 'Load the table' }] as const,
      ...attempts.map(({ isOutage: _, ...data }) => ['episode_attempt', data] as const),
      ['episode_end', { outcome, ...(note === '' ? {} : { note }) }] as const,
    ].map(([kind, data]) => ({ type: 'event-reported', kind, agent: 'loader', session: id, data }));
    const records = toRecords(createMemoryStore(), () => 1);
    await records.append(facts.map((fact) => ({ at: 1, fact })));
    const read = await readEpisodeEvidence(id, records);
    if (read === undefined) throw new Error('no evidence');
    const { verdict } = appraise(read.evidence);
    const episode = foldEpisode(id, await records.events(id));
    const learns = episode !== undefined && hasLearnableContrast(episode);
    expect({ attempts, outcome: episode?.outcome, note, verdict, learns }).toEqual({
      attempts,
      outcome,
      note,
      ...expected(attempts, outcome, note),
    });
    verdicts.set(verdict, (verdicts.get(verdict) ?? 0) + 1);
  }
  expect([...verdicts.keys()].sort()).toEqual(['ambiguous', 'failure', 'infrastructure', 'success']);
});
