import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makePipelineReport } from '../../../lab/report/pipeline-report.ts';
import type { OpenEnvironment } from '../../../lab/suites/bench-environment.ts';
import { HOUSE_CONVENTIONS } from '../../../lab/suites/pipeline/house-conventions.ts';
import {
  type FinishedRun,
  loadPipelineJournal,
  openPipelineJournal,
  type PipelineHead,
  type PipelineJournal,
} from '../../../lab/suites/pipeline/pipeline-journal.ts';
import { createResearchPipeline } from '../../../lab/suites/pipeline/research-pipeline.ts';
import { runPipelineSuite } from '../../../lab/suites/pipeline/run-pipeline-suite.ts';
import { createScriptedResearcher } from '../../../lab/suites/pipeline/scripted-researcher.ts';
import { createMemoryReport } from '../../../src/pipeline/stage-report.ts';
import { head } from './pipeline-journals.ts';
import { runTrusted } from './run-trusted.ts';
import { speakTo } from './speak-to.ts';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'instar-pipeline-suite-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const pipelines = new Map(
  [1, 2].map((seed) => [seed, createResearchPipeline({ seed: `suite/${seed}`, runProgram: runTrusted })]),
);
const pipelineOf = (seed: number) => {
  const found = pipelines.get(seed);
  if (found === undefined) throw new Error(`no seed ${seed}`);
  return found;
};

/**
 * A environment in this process. With skills it learns, when it settles, one convention of what was found; what it knows is kept
 * by day as a real one keeps its store, the day before let go.
 */
function createBeds(options: { readonly teaches?: boolean } = {}) {
  const kept = new Map<string, readonly string[]>();
  const opened: string[] = [];
  const openEnvironment: OpenEnvironment = async ({ condition, seed, after }) => {
    opened.push(`${condition} ${seed} after ${after ?? 'nothing'}`);
    const name = (day: number): string => `${condition}/${seed}/${day}`;
    let known: readonly string[] = after === undefined ? [] : (kept.get(name(after)) ?? []);
    if (after !== undefined && !kept.has(name(after))) throw new Error('what was kept is gone');
    const memory = createMemoryReport();
    const of = HOUSE_CONVENTIONS;
    const block = (): string =>
      of
        .filter(({ id }) => known.includes(id))
        .map(({ id, demand }) => `### ${id}\n${demand}`)
        .join('\n\n');
    const seen = (demand: string): boolean =>
      memory.verdicts().some(({ note = '' }) => note.includes(demand));
    const model = createScriptedResearcher({
      seed: `luck/${seed}`,
      pipeline: pipelineOf(seed),
      obey: 1,
      unaided: 0.25,
    });
    const isShown = condition === 'skills' && options.teaches !== false;
    const speak = speakTo(model, () => (isShown ? block() : ''));
    return {
      speak: async (...asked) => ({
        ...(await speak(...asked)),
        lessons: isShown ? known : [],
      }),
      model: 'm',
      report: memory.report,
      judge: async () => undefined,
      settle: async () => {
        const found = of.find(({ id, demand }) => !known.includes(id) && seen(demand));
        if (found !== undefined) known = [...known, found.id];
      },
      lessons: async () =>
        of
          .filter(({ id }) => known.includes(id))
          .map(({ id, demand }) => ({ id, name: id, state: 'live', text: demand })),
      policyMs: () => 0,
      save: async (day) => {
        kept.set(name(day), known);
        kept.delete(name(day - 1));
      },
      close: async () => undefined,
    };
  };
  return { openEnvironment, opened, kept };
}

const plan = (over: Partial<PipelineHead> = {}): PipelineHead => head({ seeds: [1, 2], runs: 3, ...over });

async function run(
  file: string,
  environments: ReturnType<typeof createBeds>,
  made: PipelineHead,
  stopAfter = Number.POSITIVE_INFINITY,
): Promise<{ readonly journal: PipelineJournal; readonly again: readonly string[] }> {
  const done = loadPipelineJournal(file);
  const journal = openPipelineJournal(file, made, done);
  const stop = new AbortController();
  const again: string[] = [];
  await runPipelineSuite({
    head: made,
    pipeline: pipelineOf,
    openEnvironment: environments.openEnvironment,
    journal,
    done,
    settleEach: false,
    onProgress: ({ asked }) => {
      if (asked >= stopAfter) stop.abort();
    },
    onBegunAgain: ({ condition, seed }) => again.push(`${condition} ${seed}`),
    signal: stop.signal,
  });
  journal.close();
  const read = loadPipelineJournal(file);
  if (read === undefined) throw new Error('no journal');
  return { journal: read, again };
}

const gist = ({ stages, policyMs: _, ...rest }: FinishedRun) => ({
  ...rest,
  stages: stages.map(({ ms: __, ...stage }) => stage),
});

describe('the pipeline suite', () => {
  it('has the same result wherever it was stopped, and repeats no run', async () => {
    const whole = await run(path.join(folder, 'whole'), createBeds(), plan());
    expect(whole.journal.runs).toHaveLength(12);
    expect(whole.journal.runs.filter(({ lessons }) => lessons.length > 0).length).toBeGreaterThan(6);
    let stopped = 0;
    for (const after of [1, 4, 5, 11]) {
      const file = path.join(folder, `stopped-${after}`);
      const environments = createBeds();
      const cut = await run(file, environments, plan(), after);
      expect(cut.journal.runs).toHaveLength(after);
      const { journal, again } = await run(file, environments, plan());
      expect(again).toEqual([]);
      expect(journal.runs.map(gist)).toEqual(whole.journal.runs.map(gist));
      stopped++;
    }
    expect(stopped).toBe(4);
  });

  it('restarts a condition whose saved state is missing, with the same result', async () => {
    const whole = await run(path.join(folder, 'whole-again'), createBeds(), plan());
    const file = path.join(folder, 'gone');
    const environments = createBeds();
    await run(file, environments, plan(), 5);
    environments.kept.delete('skills/1/1');
    const { journal, again } = await run(file, environments, plan());
    expect(again).toEqual(['skills 1']);
    expect(environments.opened).toContain('skills 1 after 1');
    expect(journal.runs.map(gist)).toEqual(whole.journal.runs.map(gist));
  });

  it('does nothing when every run is finished', async () => {
    const file = path.join(folder, 'done');
    const environments = createBeds();
    await run(file, environments, plan());
    const before = environments.opened.length;
    const { journal } = await run(file, environments, plan());
    expect(environments.opened).toHaveLength(before);
    expect(journal.runs).toHaveLength(12);
  });

  it('finds no difference without lessons in the prompts, and the true one with them', async () => {
    const conventions = HOUSE_CONVENTIONS.map(({ id, title, stages }) => ({ id, title, stages }));
    const made = plan({ runs: 6, conventions });
    const same = makePipelineReport(
      (await run(path.join(folder, 'same'), createBeds({ teaches: false }), made)).journal,
    );
    for (const { mean, verdict, tied } of same.differences) {
      expect(mean).toBe(0);
      expect([verdict, tied]).toEqual(['cannot say', 10]);
    }
    const { journal } = await run(path.join(folder, 'helped'), createBeds(), made);
    const helped = makePipelineReport(journal);
    const verdicts = Object.fromEntries(helped.differences.map(({ measure, verdict }) => [measure, verdict]));
    expect(verdicts).toMatchObject({ atOnce: 'better', refinesPerStage: 'better', robustness: 'better' });
    expect(helped.stages.reduce((sum, { lost }) => sum + lost, 0)).toBe(0);
    const [first] = journal.runs.filter(({ condition }) => condition === 'skills');
    expect(first?.lessons).toMatchObject([{ id: 'owner-field', teaches: ['owner-field'] }]);
    const owner = helped.conventions
      .find(({ id }) => id === 'owner-field')
      ?.conditions.find(({ condition }) => condition === 'skills');
    // A taught convention is always kept here: from the second run on nothing breaks it.
    expect(owner?.firstTaught.map(({ day }) => day)).toEqual([1, 1]);
    expect(owner?.runs.filter(({ run, broken }) => run > 1 && broken > 0)).toEqual([]);
    expect(owner?.after.value).toBe(1);
    expect(owner?.after.n).toBeGreaterThan(30);
  });
});
