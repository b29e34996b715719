import { describe, expect, it } from 'vitest';
import { createCorpus } from '../../../lab/suites/pipeline/corpus.ts';
import { HOUSE_CONVENTIONS } from '../../../lab/suites/pipeline/house-conventions.ts';
import { pipelineFigures } from '../../../lab/suites/pipeline/pipeline-metrics.ts';
import {
  createResearchPipeline,
  type ResearchPipeline,
} from '../../../lab/suites/pipeline/research-pipeline.ts';
import {
  createNullResearcher,
  createOracleResearcher,
  createScriptedResearcher,
} from '../../../lab/suites/pipeline/scripted-researcher.ts';
import { isScorable } from '../../../lab/suites/pipeline/stage.ts';
import type { ChatModel } from '../../../src/core/chat.ts';
import { createFailure } from '../../../src/core/failure.ts';
import type { GatewayClient } from '../../../src/core/gateway-client.ts';
import { createMemoryReport } from '../../../src/pipeline/stage-report.ts';
import { runTrusted } from './run-trusted.ts';
import { speakTo } from './speak-to.ts';

const pipeline = createResearchPipeline({ seed: 'lab', runProgram: runTrusted });
const runWith = (
  one: ResearchPipeline,
  speak: GatewayClient,
  more: { signal?: AbortSignal; run?: number } = {},
) => {
  const memory = createMemoryReport();
  const signal = more.signal ?? new AbortController().signal;
  const done = one.run({
    speak,
    report: memory.report,
    model: 'm',
    agent: 'lab',
    run: more.run ?? 1,
    signal,
  });
  return done.then((run) => ({ run, memory }));
};
const scripted = (one: ResearchPipeline, obey: number, unaided: number): ChatModel =>
  createScriptedResearcher({ seed: 'luck', pipeline: one, obey, unaided });
/** One lesson for each convention. */
const ALL_LESSONS = [
  '## Active Skills',
  ...HOUSE_CONVENTIONS.map(({ id, demand }) => `### ${id}\n\n${demand}`),
].join('\n\n');

describe('the corpus', () => {
  it('has sixty abstracts with unique keys, the same for the same seed and different for another', () => {
    const { works, topic } = createCorpus('lab');
    expect(works).toHaveLength(60);
    expect(new Set(works.map(({ key }) => key)).size).toBe(60);
    expect(createCorpus('lab').works).toEqual(works);
    expect(createCorpus('other').works).not.toEqual(works);
    expect(works.filter(({ preprintOf }) => preprintOf !== undefined)).toHaveLength(3);
    expect(works.filter(({ field }) => field !== topic.field.name).length).toBeGreaterThan(30);
    for (const { key, year, abstract, value } of works) {
      expect(key.endsWith(String(year % 100).padStart(2, '0'))).toBe(true);
      expect(abstract).toContain(`${value.toFixed(1)} percent`);
    }
  });
});

describe('the research pipeline', () => {
  it('has 23 stages, 18 of a model and 5 of code, 19 scorable, each after its dependencies', () => {
    const { stages } = pipeline;
    expect(stages).toHaveLength(23);
    expect(stages.filter(({ kind }) => kind !== 'code')).toHaveLength(18);
    expect(stages.find(({ kind }) => kind === 'panel')).toMatchObject({ id: 'peer-review' });
    expect(stages.filter(isScorable)).toHaveLength(19);
    const places = new Map(stages.map(({ id }, nth) => [id, nth]));
    expect(places.size).toBe(23);
    let needs = 0;
    for (const [nth, stage] of stages.entries())
      for (const need of stage.needs) {
        expect(places.get(need)).toBeLessThan(nth);
        needs++;
      }
    expect(needs).toBeGreaterThan(23);
  });

  it('has eleven conventions, six of them shared, taught by their own demand and by no prompt', async () => {
    expect(HOUSE_CONVENTIONS).toHaveLength(11);
    expect(HOUSE_CONVENTIONS.filter(({ stages }) => stages.length > 1)).toHaveLength(6);
    const prompts: string[] = [];
    const speak = speakTo(createOracleResearcher(pipeline));
    await runWith(pipeline, (request, speaker, signal) => {
      prompts.push(JSON.stringify(request));
      return speak(request, speaker, signal);
    });
    expect(prompts).toHaveLength(17 + 3);
    for (const { id, demand, isTaughtBy } of HOUSE_CONVENTIONS) {
      expect(isTaughtBy(demand), id).toBe(true);
      // A later prompt may contain what an earlier stage wrote under a convention, and nothing else of it.
      const teaching = prompts.filter((prompt) => isTaughtBy(JSON.parse(prompt).system[0].text));
      expect(teaching, id).toEqual([]);
      for (const other of HOUSE_CONVENTIONS)
        if (other.id !== id) expect(isTaughtBy(other.demand)).toBe(false);
    }
  });

  it.each(['lab', 'north', 'south', '7'])(
    'is completed by the oracle at once, 19 of 19 (seed %s)',
    async (seed) => {
      const one = createResearchPipeline({ seed, runProgram: runTrusted });
      const { run, memory } = await runWith(one, speakTo(createOracleResearcher(one)));
      expect(pipelineFigures(run)).toEqual({
        stages: 19,
        begun: 19,
        completed: 19,
        completion: 1,
        atOnce: 1,
        retryRate: 0,
        refinesPerStage: 0,
        robustness: 1,
      });
      expect(run.stages.every(({ status }) => status === 'completed')).toBe(true);
      expect(memory.outcomes().map(({ status }) => status)).toEqual(Array(23).fill('ok'));
    },
  );

  it('fails with a silent model: one stage tried twice with two refine cycles each, all others blocked', async () => {
    const { run } = await runWith(pipeline, speakTo(createNullResearcher()));
    expect(pipelineFigures(run)).toEqual({
      stages: 19,
      begun: 1,
      completed: 0,
      completion: 0,
      atOnce: 0,
      retryRate: 1,
      refinesPerStage: 4,
      robustness: 0,
    });
    expect(run.stages.map(({ status }) => status)).toEqual(['failed', ...Array(22).fill('blocked')]);
  });

  it('blocks the stages that depend on a failed stage, and no other', async () => {
    const one = createResearchPipeline({ seed: 'lab', conventions: [], runProgram: runTrusted });
    const oracle = speakTo(createOracleResearcher(one));
    const { run } = await runWith(one, async (request, speaker, signal) => {
      const said = await oracle(request, speaker, signal);
      return speaker.session.includes(':hypothesis:') ? { ...said, text: 'I would rather not.' } : said;
    });
    const ended = (status: string) =>
      run.stages.filter((stage) => stage.status === status).map(({ stage }) => stage);
    expect(ended('failed')).toEqual(['hypothesis']);
    expect(ended('blocked')).toEqual([
      'experiment-plan',
      'experiment-spec',
      'run-experiment',
      'result-table',
      'result-analysis',
      'method-section',
      'results-section',
      'abstract',
      'package',
      'peer-review',
    ]);
    expect(pipelineFigures(run).completed).toBe(9);
  });

  it('does not count an outage as a failure, and stops when it is aborted', async () => {
    const oracle = createOracleResearcher(pipeline);
    const seen = new Set<string>();
    const once = speakTo(oracle, undefined, ({ session }) => {
      const isFirst = /:1(?::review-methods)?$/.test(session) && !seen.has(session);
      seen.add(session);
      return isFirst ? createFailure('rate-limited', 'slow down') : undefined;
    });
    const { run, memory } = await runWith(pipeline, once);
    expect(pipelineFigures(run)).toMatchObject({
      completed: 19,
      retryRate: 0,
      refinesPerStage: 0,
      robustness: 1,
    });
    expect(memory.outcomes().filter(({ status }) => status === 'failed')).toHaveLength(18);
    expect(memory.verdicts().filter(({ score }) => score < 0)).toEqual([]);

    const stop = new AbortController();
    const plain = speakTo(oracle);
    const cut = await runWith(
      pipeline,
      async (request, speaker, signal) => {
        if (speaker.session.includes(':screening:')) stop.abort();
        const said = await plain(request, speaker, signal);
        return signal.aborted ? { ...said, failure: createFailure('aborted', 'stop') } : said;
      },
      { signal: stop.signal },
    );
    expect(cut.run.stages.filter(({ status }) => status === 'completed')).toHaveLength(4);
    expect(cut.run.stages.filter(({ status }) => status === 'interrupted')).toHaveLength(19);
  });
});

describe('the scripted researcher', () => {
  it('keeps conventions with the configured probabilities, depending on whether they are taught', async () => {
    const share = async (shown: string, unaided: number): Promise<number> => {
      let broken = 0;
      let asked = 0;
      for (let nth = 0; nth < 12; nth++) {
        const one = createResearchPipeline({ seed: `share-${nth}`, runProgram: runTrusted });
        const { run } = await runWith(
          one,
          speakTo(scripted(one, 0.95, unaided), () => shown),
          { run: nth },
        );
        const begun = run.stages.filter(({ attempts, kind }) => attempts > 0 && kind === 'model');
        broken += begun.flatMap((stage) => stage.broken).length;
        asked += begun.flatMap(({ stage }) =>
          HOUSE_CONVENTIONS.filter(({ stages }) => stages.includes(stage)),
        ).length;
      }
      expect(asked).toBeGreaterThan(150);
      return 1 - broken / asked;
    };
    expect(await share('', 0.3)).toBeCloseTo(0.3, 1);
    expect(await share(ALL_LESSONS, 0.3)).toBeCloseTo(0.95, 1);
  });

  it('gets the same draws with and without lessons: a convention kept untaught is also kept when taught', async () => {
    const model = scripted(pipeline, 0.9, 0.4);
    const without = await runWith(pipeline, speakTo(model));
    const aided = await runWith(
      pipeline,
      speakTo(model, () => ALL_LESSONS),
    );
    let compared = 0;
    for (const [nth, { stage, broken, attempts }] of aided.run.stages.entries()) {
      if (attempts === 0 || without.run.stages[nth]?.attempts === 0) continue;
      for (const convention of broken) expect(without.run.stages[nth]?.broken, stage).toContain(convention);
      compared++;
    }
    expect(compared).toBeGreaterThan(10);
    expect(without.run.stages.flatMap(({ broken }) => broken).length).toBeGreaterThan(5);
  });

  it('gives the same reply to the same request, whatever came before', async () => {
    const first = await runWith(pipeline, speakTo(scripted(pipeline, 0.9, 0.3)));
    const model = scripted(pipeline, 0.9, 0.3);
    await runWith(pipeline, speakTo(model), { run: 5 });
    const again = await runWith(pipeline, speakTo(model));
    const plain = (run: typeof first.run) => run.stages.map(({ ms: _, ...stage }) => stage);
    expect(plain(again.run)).toEqual(plain(first.run));
  });
});
