import { describe, expect, it } from 'vitest';
import {
  compareRuns,
  explainRunDifference,
  makePipelineReport,
  pipelineJson,
  pipelineMarkdown,
} from '../../../lab/report/pipeline-report.ts';
import type { PipelineCondition, PipelineJournal } from '../../../lab/suites/pipeline/pipeline-journal.ts';
import { pairRuns } from '../../../lab/suites/pipeline/pipeline-metrics.ts';
import { finished, head, simulatePipelineJournal, stage } from './pipeline-journals.ts';

const learning = (condition: PipelineCondition, run: number): number =>
  condition === 'skills' && run > 1 ? 0.2 : 0.7;
const helped = simulatePipelineJournal('helped', learning);
const full = makePipelineReport(helped);
const verdictsOf = (journal: PipelineJournal): Record<string, string> =>
  Object.fromEntries(
    makePipelineReport(journal).differences.map(({ measure, verdict }) => [measure, verdict]),
  );

describe('claims about the pipeline', () => {
  it('are made for a true difference of 0 in at most about 5 % of 100 runs, and never where the interval covers 0', () => {
    const claimed = { refinesPerStage: 0, robustness: 0 };
    let covering = 0;
    for (let nth = 0; nth < 100; nth++) {
      const { head: made, ...journal } = simulatePipelineJournal(`null/${nth}`, () => 0.5);
      for (const { measure, verdict, interval } of compareRuns(pairRuns(journal), made.mostRefines)) {
        if (interval !== undefined && interval.low <= 0 && interval.high >= 0) {
          expect(verdict).toBe('cannot say');
          covering++;
        }
        if (verdict !== 'cannot say' && (measure === 'refinesPerStage' || measure === 'robustness'))
          claimed[measure]++;
      }
    }
    expect(covering).toBeGreaterThan(400);
    // 5 % and two standard errors of a share of 5 % in 100 runs.
    expect(claimed.refinesPerStage / 100).toBeLessThanOrEqual(0.094);
    expect(claimed.robustness / 100).toBeLessThanOrEqual(0.094);
  });

  it('call fewer refine cycles better (not worse), and more of them worse', () => {
    expect(verdictsOf(helped)).toEqual({
      completion: 'cannot say',
      atOnce: 'better',
      retryRate: 'cannot say',
      refinesPerStage: 'better',
      robustness: 'better',
    });
    const harmed = simulatePipelineJournal('harmed', (condition, run) => 0.9 - learning(condition, run));
    expect(verdictsOf(harmed)).toMatchObject({
      atOnce: 'worse',
      refinesPerStage: 'worse',
      robustness: 'worse',
    });
  });

  it('are not made from fewer than six pairs, however large the difference', () => {
    const few = simulatePipelineJournal('few', learning, { seeds: [1], runs: 5 });
    const { differences, remarks } = makePipelineReport(few);
    expect(differences).toHaveLength(5);
    for (const difference of differences) {
      expect(difference.verdict).toBe('cannot say');
      const { claim, because } = explainRunDifference(difference);
      expect(claim).toContain('cannot say');
      expect(because).toEqual([
        '4 pairs of runs are too few to tell a difference from chance; at least 6 are needed',
      ]);
    }
    expect(remarks.join()).toContain('fewer than 3');
  });

  it('exclude the first run, because nothing was learned before it', () => {
    const only = simulatePipelineJournal('first', (condition, run) =>
      run === 1 && condition === 'skills' ? 1 : 0.5,
    );
    expect(pairRuns(only).map(({ skills }) => skills.run)).not.toContain(1);
    expect(pairRuns(only)).toHaveLength(12);
  });

  it('exclude a pair that an outage cut short, and say what it would change', () => {
    const cut = helped.runs.map((one) =>
      one.condition === 'skills' && one.seed === 1 && one.run === 3
        ? {
            ...one,
            stages: one.stages.map((each, at) =>
              at > 5 ? { ...each, status: 'interrupted' as const, attempts: 0, refines: 0 } : each,
            ),
          }
        : one,
    );
    const { differences, remarks, conditions } = makePipelineReport({ ...helped, runs: cut });
    const completion = differences.find(({ measure }) => measure === 'completion');
    expect(completion).toMatchObject({ pairs: 11, leftOut: 1, mean: 0 });
    expect(completion?.withLeftOut).toBeCloseTo(-13 / 19 / 12, 10);
    expect(remarks.join()).toContain('1 run of 30 had an outage');
    expect(conditions.map(({ completion: figure }) => figure.n)).toEqual([11, 11]);
  });
});

describe('the report of a pipeline', () => {
  it('counts the first answers that broke a convention, run by run', () => {
    const run = (seed: number, nth: number, isBroken: boolean) =>
      finished({
        condition: 'skills',
        seed,
        run: nth,
        stages: [stage({ refines: isBroken ? 1 : 0, broken: isBroken ? ['owner'] : [] })],
      });
    const broken = [
      [true, false, true, false, false],
      [true, true, true, true, true],
      [false, false, false, false, false],
    ];
    const runs = broken.flatMap((seed, at) => seed.map((is, nth) => run(at + 1, nth + 1, is)));
    const report = makePipelineReport({ head: head({ conditions: ['skills'] }), runs });
    const under = report.conventions[0]?.conditions[0];
    expect(under?.runs.map((one) => `${one.broken}/${one.of}`)).toEqual(['2/3', '1/3', '2/3', '1/3', '1/3']);
    expect(report.differences).toEqual([]);
    expect(report.remarks.join()).toContain('Only skills was run');
  });

  it('counts the stages that went worse beside those that went better', () => {
    const skills = finished({
      condition: 'skills',
      run: 2,
      stages: [
        stage({ stage: 'a', refines: 2, broken: ['owner'], lessons: ['l1'] }),
        stage({ stage: 'b', status: 'failed', attempts: 2 }),
        stage({ stage: 'c' }),
        stage({ stage: 'd', attempts: 2 }),
        stage({ stage: 'e', isScorable: false, refines: 4 }),
      ],
    });
    const baseline = finished({
      run: 2,
      stages: [
        stage({ stage: 'a' }),
        stage({ stage: 'b' }),
        stage({ stage: 'c', refines: 1 }),
        stage({ stage: 'd', refines: 4 }),
        stage({ stage: 'e', isScorable: false }),
      ],
    });
    const runs = [finished(), baseline, finished({ condition: 'skills' }), skills];
    const report = makePipelineReport({ head: head({ seeds: [1], runs: 2 }), runs });
    expect(report.stages.map(({ stage: name, gained, lost }) => [name, gained, lost])).toEqual([
      ['a', 0, 1],
      ['b', 0, 1],
      ['c', 1, 0],
      ['d', 0, 1],
    ]);
    expect(pipelineMarkdown(report)).toContain('better with lessons: 1 of 4; worse: 3 (a 1, b 1, d 1)');
  });

  it('is deterministic, and is readable without any finished run', () => {
    expect(pipelineMarkdown(makePipelineReport(helped))).toBe(pipelineMarkdown(full));
    const nothing = makePipelineReport({ head: head(), runs: [] });
    expect(nothing.remarks).toEqual(['No run has been finished yet.']);
    expect(pipelineMarkdown(nothing)).toContain('No run has been finished yet.');
    expect(JSON.stringify(pipelineJson(nothing))).not.toContain('NaN');
    expect(pipelineJson(nothing).conditions.skills).toMatchObject({
      accuracy: null,
      robustnessInterval: null,
    });
  });

  it('has the JSON shape that scripts rely on, with intervals beside the figures', () => {
    const json = JSON.parse(JSON.stringify(pipelineJson(full)));
    expect([json.seeds, json.questions, Object.keys(json.conditions)]).toEqual([
      3,
      95,
      ['baseline', 'skills'],
    ]);
    let figures = 0;
    for (const condition of ['baseline', 'skills'])
      for (const name of ['accuracy', 'completion', 'retryRate', 'refinesPerStage', 'robustness']) {
        const { [name]: value, [`${name}Interval`]: interval } = json.conditions[condition];
        expect(interval.low).toBeLessThanOrEqual(value);
        expect(interval.high).toBeGreaterThanOrEqual(value);
        figures++;
      }
    expect(figures).toBe(10);
    expect(json.conditions.skills.curve).toHaveLength(5);
    expect(json.differences[1]).toMatchObject({ measure: 'atOnce', verdict: 'better' });
  });
});
