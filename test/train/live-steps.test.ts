import { describe, expect, it } from 'vitest';
import type { LiveTurn } from '../../train/advantage.ts';
import { createMemoryJournal } from '../../train/run-journal.ts';
import { train } from '../../train/trainer.ts';
import type { LiveTurnsQuery, TrainerEvent } from '../../train/training-run.ts';
import { echoTasks, rollOutEcho, VOCABULARY } from './echo-tasks.ts';
import { createServer, createTabularEngine } from './tabular-engine.ts';

const { signal } = new AbortController();
const GENERATION = 3;

describe('a run that also trains on live turns', () => {
  it('requests turns of its generation and of recent versions, and trains on each once', async () => {
    const engine = createTabularEngine(createServer({ vocabulary: VOCABULARY }));
    const rollouts = rollOutEcho(engine, () => GENERATION);
    const asked: LiveTurnsQuery[] = [];
    const heard: TrainerEvent[] = [];
    const [task] = echoTasks;
    if (task === undefined) throw new Error('no task');
    // What was served by the first weights; the same turns are there before every step.
    const served: LiveTurn[] = [];
    const live = async (wanted: LiveTurnsQuery): Promise<readonly LiveTurn[]> => {
      asked.push({ ...wanted, trained: new Set(wanted.trained) });
      if (served.length === 0) {
        const policy = { version: wanted.versions.at(-1) ?? -1, sampler: undefined };
        for (const rollout of await rollouts(policy, task, 5, { seed: 'served', signal }))
          served.push({ advantage: rollout.reward - 0.5, rollout: { ...rollout, id: `live/${rollout.id}` } });
      }
      return served.filter(
        ({ rollout: { id, segments } }) =>
          !wanted.trained.has(id) && wanted.versions.includes(segments[0]?.policy ?? -1),
      );
    };
    for await (const news of train({
      engine,
      run: 'run',
      tasks: echoTasks,
      rollouts,
      steps: 5,
      batch: { groups: 6, size: 48 },
      generation: async () => GENERATION,
      live,
      journal: createMemoryJournal(),
      signal,
      rank: 1,
      settings: { mostStale: 2, length: { tokens: 2 } },
    }))
      heard.push(news);

    const reports = heard.flatMap((news) => (news.type === 'step-trained' ? [news.report] : []));
    expect(reports.map((report) => report.live)).toEqual([5, 0, 0, 0, 0]);
    expect(asked.map(({ generation }) => generation)).toEqual(Array(5).fill(GENERATION));
    expect(asked.map(({ versions }) => versions)).toEqual([[0], [0, 1], [0, 1, 2], [1, 2, 3], [2, 3, 4]]);
    expect(asked.map(({ trained }) => [...trained].filter((id) => id.startsWith('live/')).length)).toEqual([
      0, 5, 5, 5, 5,
    ]);
  });
});
