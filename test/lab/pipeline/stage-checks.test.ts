import { beforeAll, describe, expect, it } from 'vitest';
import {
  createResearchPipeline,
  type ResearchPipeline,
} from '../../../lab/suites/pipeline/research-pipeline.ts';
import { createOracleResearcher } from '../../../lab/suites/pipeline/scripted-researcher.ts';
import { type ModelStage, modelTasks } from '../../../lab/suites/pipeline/stage.ts';
import { parsePrompt } from '../../../lab/suites/pipeline/stage-prompt.ts';
import { asArray, asObject, type Json, type JsonObject, parseJson } from '../../../src/core/json.ts';
import { createMemoryReport } from '../../../src/pipeline/stage-report.ts';
import { runTrusted } from './run-trusted.ts';
import { speakTo } from './speak-to.ts';

interface Sample {
  readonly pipeline: ResearchPipeline;
  readonly material: JsonObject;
  readonly output: JsonObject;
}

const SEEDS = ['one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight'];
/** The material and the oracle's answer of each stage, for each seed. */
const samples = new Map<string, Sample[]>();
let pipelines: readonly ResearchPipeline[] = [];

beforeAll(async () => {
  pipelines = SEEDS.map((seed) => createResearchPipeline({ seed, runProgram: runTrusted }));
  for (const pipeline of pipelines) {
    const speak = speakTo(createOracleResearcher(pipeline));
    await pipeline.run({
      speak: async (request, speaker, signal) => {
        const said = await speak(request, speaker, signal);
        const prompt = parsePrompt(request);
        if (prompt !== undefined) {
          const one = { pipeline, material: prompt.material, output: asObject(parseJson(said.text)) };
          samples.set(prompt.stage, [...(samples.get(prompt.stage) ?? []), one]);
        }
        return said;
      },
      report: createMemoryReport().report,
      model: 'oracle',
      agent: 'lab',
      run: 1,
      signal: new AbortController().signal,
    });
  }
});

const stageOf = (pipeline: ResearchPipeline, id: string): ModelStage => {
  const stage = modelTasks(pipeline.stages).find((one) => one.id === id);
  if (stage === undefined) throw new Error(`no model stage ${id}`);
  return stage;
};

type Mutation = (output: JsonObject, material: JsonObject) => JsonObject;
const set =
  (name: string, value: Json): Mutation =>
  (output) => ({ ...output, [name]: value });
const each =
  (list: string, change: (one: JsonObject, nth: number) => JsonObject | undefined): Mutation =>
  (output) => ({
    ...output,
    [list]: asArray(output[list]).flatMap((one, nth): readonly Json[] => {
      const changed = change(asObject(one), nth);
      return changed === undefined ? [] : [changed];
    }),
  });
const first = (list: string, change: (one: JsonObject) => JsonObject | undefined): Mutation =>
  each(list, (one, nth) => (nth === 0 ? change(one) : one));
const text =
  (change: (text: string) => string): Mutation =>
  (output) => ({ ...output, text: change(String(output.text)) });
const paragraph =
  (change: (text: string) => string): Mutation =>
  (output) => ({
    ...output,
    paragraphs: asArray(output.paragraphs).map((one, nth) => (nth === 0 ? change(String(one)) : one)),
  });
/** Inserts words before the last sentence, which a convention fixes. */
const padded = (said: string): string => `${'and on '.repeat(120)}${said}`;

/** An otherwise right answer with one error, and words of the expected finding. */
const MUTATIONS: readonly (readonly [stage: string, what: string, mutate: Mutation, said: string])[] = [
  ['topic-scoping', 'a title of two words', set('title', 'Two words'), 'title of 3 to 14'],
  [
    'topic-scoping',
    'no question mark',
    (output) => ({ ...output, question: `${String(output.question).slice(0, -1)}.` }),
    'question mark',
  ],
  ['topic-scoping', 'a question that names no method', set('question', 'Is it better?'), 'both methods'],
  ['topic-scoping', 'one thing in scope', set('in_scope', ['all of it']), 'in scope and two'],
  [
    'topic-scoping',
    'the same in and out of scope',
    (output) => ({ ...output, out_of_scope: output.in_scope ?? [] }),
    'out of the list',
  ],
  [
    'query-planning',
    'two queries',
    (output, { methods, field }) => ({ ...output, queries: [field ?? '', asArray(methods).join(' ')] }),
    '3 to 5 queries',
  ],
  [
    'query-planning',
    'a query twice',
    (output) => ({ ...output, queries: [...asArray(output.queries), asArray(output.queries)[0] ?? ''] }),
    'different',
  ],
  [
    'query-planning',
    'a long query',
    (output) => ({ ...output, queries: [...asArray(output.queries), 'a b c d e f g h i'] }),
    '8 words',
  ],
  [
    'query-planning',
    'a method that no query has',
    (output) => ({ ...output, queries: [asArray(output.queries)[0] ?? '', 'one thing', 'another thing'] }),
    'each method',
  ],
  [
    'query-planning',
    'no query for the field',
    (output) => ({ ...output, queries: ['any', ...asArray(output.queries).slice(1)] }),
    'name of the field',
  ],
  ['query-planning', 'other years', set('from', 1999), 'years from the material'],
  [
    'screening',
    'a record left out',
    (output) => ({ ...output, exclude: asArray(output.exclude).slice(1) }),
    'exactly once',
  ],
  [
    'screening',
    'a work that belongs elsewhere',
    (output) => {
      const [key = ''] = asArray(output.exclude).map((one) => String(asObject(one).key));
      return {
        ...output,
        include: [...asArray(output.include), key],
        exclude: asArray(output.exclude).slice(1),
      };
    },
    'only when it is about',
  ],
  [
    'screening',
    'a reason that says nothing',
    first('exclude', (one) => ({ ...one, reason: '' })),
    'reason for each',
  ],
  ['evidence-extraction', 'a row too few', first('rows', () => undefined), 'one row for each'],
  [
    'evidence-extraction',
    'a key that nobody has',
    first('rows', (one) => ({ ...one, key: 'nobody00' })),
    'one row for each',
  ],
  [
    'evidence-extraction',
    'another year',
    first('rows', (one) => ({ ...one, year: Number(one.year) - 1 })),
    'Copy the year',
  ],
  [
    'evidence-extraction',
    'another method',
    first('rows', (one) => ({ ...one, method: 'luck' })),
    'method and dataset',
  ],
  [
    'evidence-extraction',
    'another value',
    first('rows', (one) => ({ ...one, value: '1.00 %' })),
    'measured value from the abstract',
  ],
  ['conflict-mapping', 'a conflict too few', first('conflicts', () => undefined), 'every pair'],
  [
    'conflict-mapping',
    'a pair that agrees',
    first('conflicts', (one) => ({ ...one, keys: ['nobody00', 'noone01'] })),
    'every pair',
  ],
  ['conflict-mapping', 'another gap', first('conflicts', (one) => ({ ...one, gap: 1 })), 'gap of a conflict'],
  [
    'conflict-mapping',
    'a conflict about nothing',
    first('conflicts', (one) => ({ ...one, about: '' })),
    'what each conflict is about',
  ],
  [
    'gap-analysis',
    'one gap',
    (output) => ({ ...output, gaps: asArray(output.gaps).slice(1) }),
    '2 to 4 gaps',
  ],
  [
    'gap-analysis',
    'a key that nobody has',
    first('gaps', (one) => ({ ...one, statement: `${String(one.statement)} [nobody00, 2000]` })),
    'Cite only keys',
  ],
  ['gap-analysis', 'no citation', first('gaps', (one) => ({ ...one, cites: [] })), 'without a citation'],
  [
    'gap-analysis',
    'a statement of few words',
    (output, material) =>
      first('gaps', (one) => ({
        ...one,
        statement: `${String(asArray(material.methods)[0])} [${String(asArray(one.cites)[0])}, 2020]`,
      }))(output, material),
    'between 8 and 60',
  ],
  [
    'gap-analysis',
    'no method',
    (output, material) => ({
      ...output,
      gaps: asArray(output.gaps).map((gap) => ({
        ...asObject(gap),
        statement: asArray(material.methods).reduce(
          (said: string, name) => said.replaceAll(String(name), 'it'),
          `So far ${String(asObject(gap).statement)}`,
        ),
      })),
    }),
    'Name a method',
  ],
  ['hypothesis', 'no metric in it', set('hypothesis', 'It is better.'), 'metric in the hypothesis'],
  ['hypothesis', 'another metric', set('metric', 'luck'), 'metric of the material'],
  ['hypothesis', 'no direction', set('direction', 'sideways'), 'direction'],
  [
    'hypothesis',
    'a threshold out of reach',
    (output, material) => ({
      ...output,
      threshold: 30,
      falsified_if: `the ${String(material.metric)} is less than 30 points above`,
    }),
    'threshold of more than 0',
  ],
  [
    'hypothesis',
    'nothing that could refute it',
    set('falsified_if', 'it turns out otherwise'),
    'falsifiable',
  ],
  ['experiment-plan', 'another treatment', set('treatment', 'luck'), 'hypothesis favours'],
  [
    'experiment-plan',
    'one baseline',
    (output) => ({ ...output, baselines: asArray(output.baselines).slice(0, 1) }),
    'two different baselines',
  ],
  [
    'experiment-plan',
    'the treatment as a baseline',
    (output) => ({ ...output, baselines: [...asArray(output.baselines), output.treatment ?? ''] }),
    'never the treatment',
  ],
  ['experiment-plan', 'a dataset of elsewhere', set('dataset', 'my own'), 'dataset of the field'],
  ['experiment-plan', 'another metric', set('metric', 'luck'), 'metric of the material'],
  ['experiment-plan', 'two seeds', set('seeds', [11, 13]), 'three different whole numbers'],
  ['experiment-plan', 'no time', set('minutes', 0), '1 and 120'],
  ['experiment-spec', 'a name with spaces', set('name', 'My Study'), 'Name the specification'],
  ['experiment-spec', 'no dataset', set('dataset', ''), 'dataset and metric in the specification'],
  ['experiment-spec', 'seeds in words', set('seeds', ['eleven']), 'seeds as whole numbers'],
  ['experiment-spec', 'other seeds', set('seeds', [1, 2, 3]), 'seeds from the plan'],
  ['experiment-spec', 'another dataset', set('dataset', 'my own'), 'dataset and metric from the plan'],
  [
    'experiment-spec',
    'the same id twice',
    (output) => ({ ...output, arms: asArray(output.arms).map((arm) => ({ ...asObject(arm), id: 'arm-x' })) }),
    'id of its own',
  ],
  [
    'experiment-spec',
    'a role that there is not',
    each('arms', (arm, nth) => (nth === 1 ? { ...arm, role: 'judge' } : arm)),
    'role treatment or baseline',
  ],
  [
    'experiment-spec',
    'two treatments',
    each('arms', (arm) => ({ ...arm, role: 'treatment' })),
    'one treatment',
  ],
  [
    'experiment-spec',
    'an arm without a method',
    first('arms', (arm) => ({ ...arm, method: '' })),
    'method of each arm',
  ],
  [
    'experiment-spec',
    'a baseline too few',
    (output) => ({ ...output, arms: asArray(output.arms).slice(0, -1) }),
    'each planned baseline',
  ],
  ['experiment-spec', 'a day of patience', set('timeout_s', 86_400), 'timeout_s'],
  ['result-table', 'a row too few', first('rows', () => undefined), 'one row for each arm'],
  ['result-table', 'another count', first('rows', (one) => ({ ...one, n: 1 })), 'Count the runs'],
  ['result-table', 'another mean', first('rows', (one) => ({ ...one, mean: '1.00 %' })), 'each mean'],
  ['result-table', 'another spread', first('rows', (one) => ({ ...one, spread: '99.00 %' })), 'each spread'],
  ['result-table', 'a caption without the metric', set('caption', 'What we got in the end'), 'caption'],
  ['result-analysis', 'another difference', set('difference', '99.00 %'), 'difference from the mean'],
  [
    'result-analysis',
    'the other verdict',
    (output) => ({ ...output, verdict: output.verdict === 'refuted' ? 'supported' : 'refuted' }),
    'threshold decide',
  ],
  ['result-analysis', 'a book', text(padded), '15 to 100 words'],
  [
    'result-analysis',
    'no figure in the text',
    text((said) => said.replace(/-?\d+\.\d\d %/, 'some')),
    'difference and verdict',
  ],
  [
    'outline',
    'another order',
    (output) => ({ ...output, sections: asArray(output.sections).toReversed() }),
    'in this order',
  ],
  ['outline', 'one point', first('sections', (one) => ({ ...one, points: ['all'] })), 'two points'],
  ['introduction', 'a book', text(padded), 'Write 30 to 180 words'],
  [
    'introduction',
    'a key that nobody has',
    text((said) => `As was known [nobody00, 2000]. ${said}`),
    'Cite only keys',
  ],
  [
    'introduction',
    'a claim without a citation',
    text((said) => `Some reach 99.0 percent. ${said}`),
    'without a citation',
  ],
  [
    'introduction',
    'no field',
    (output, material) => ({
      ...output,
      text: String(output.text).replace(
        String(material.field),
        'it all, as far as one can see from where we are',
      ),
    }),
    'Name the field',
  ],
  [
    'related-work',
    'a work too few',
    (output) => ({ ...output, paragraphs: asArray(output.paragraphs).slice(1) }),
    'one paragraph',
  ],
  [
    'related-work',
    'a work twice',
    (output) => ({
      ...output,
      paragraphs: [asArray(output.paragraphs)[0] ?? '', ...asArray(output.paragraphs)],
    }),
    'one paragraph',
  ],
  [
    'related-work',
    'another value',
    paragraph((said) => said.replace(/\d+(?:\.\d+)? percent/, '1 percent')),
    'value that the evidence has',
  ],
  ['related-work', 'few words', paragraph((said) => said.split(' ').slice(-5).join(' ')), 'at least 8 words'],
  ['method-section', 'a book', text(padded), 'Write 30 to 180 words'],
  [
    'method-section',
    'no dataset',
    (output, material) => ({
      ...output,
      text: String(output.text).replace(String(material.dataset), 'data'),
    }),
    'the dataset and the metric',
  ],
  [
    'method-section',
    'a number of seeds in words',
    text((said) => said.replace('5 seeds', 'five seeds')),
    'in digits',
  ],
  ['results-section', 'a book', text(padded), 'Write 30 to 180 words'],
  [
    'results-section',
    'a mean too few',
    // Two arms may have the same mean.
    text((said) => said.replaceAll(/\d+\.\d\d %/.exec(said)?.[0] ?? '', '101.00 %')),
    'mean of every arm',
  ],
  [
    'results-section',
    'no verdict',
    text((said) => said.replace(/supported|refuted/, 'settled')),
    'became of the hypothesis',
  ],
  ['abstract', 'a book', text(padded), 'Write 30 to 180 words'],
  [
    'abstract',
    'no metric',
    (output, material) => ({
      ...output,
      text: String(output.text).replaceAll(String(material.metric), 'it'),
    }),
    'both methods, the metric',
  ],
  [
    'abstract',
    'another difference',
    text((said) => said.replace(/-?\d+\.\d\d %/, '99.00 %')),
    'difference in the abstract',
  ],
  ['review-methods', 'a mean of its own', set('recomputed_mean', 101), 'Recompute the mean'],
  ['review-methods', 'a summary of one word', set('summary', 'Good.'), '10 to 80 words'],
  ['review-evidence', 'a cited work named as uncited', set('uncited', ['okafor19']), 'exactly the works'],
  ['review-evidence', 'one question', set('questions', ['Why?']), 'two questions'],
  ['review-evidence', 'praise for what has 3', set('recommendation', 'accept'), 'at least 4 in every score'],
  ['review-reading', 'another section', set('longest_section', 'abstract'), 'section with the most words'],
  [
    'review-reading',
    'a score of 6',
    (output) => ({ ...output, scores: { ...asObject(output.scores), clarity: 6 } }),
    'from 1 to 5',
  ],
  ['review-reading', 'no recommendation', set('recommendation', 'perhaps'), 'Recommend'],
  ['experiment-spec', 'no program', set('program', ' '), 'Write the program'],
  ['experiment-spec', 'another language', set('language', 'cobol'), 'javascript or python'],
];

describe('the check of a stage', () => {
  it('accepts the answers of the oracle, for every stage and seed', () => {
    let checked = 0;
    for (const [id, list] of samples)
      for (const { pipeline, material, output } of list) {
        expect(pipeline.check(stageOf(pipeline, id), output, material), id).toEqual([]);
        checked++;
      }
    expect(checked).toBe(20 * SEEDS.length);
  });

  it.each(MUTATIONS)('%s: finds %s, and nothing else', (id, _, mutate, said) => {
    const list = samples.get(id) ?? [];
    expect(list).toHaveLength(SEEDS.length);
    for (const { pipeline, material, output } of list) {
      const mutated = mutate(output, material);
      expect(mutated).not.toEqual(output);
      const reasons = stageOf(pipeline, id)
        .check(mutated, material, pipeline.corpus)
        .map(({ reason }) => reason);
      expect(reasons.join('\n')).toContain(said);
      expect(reasons).toHaveLength(1);
    }
  });

  it('has eighty different findings, some in every model stage', () => {
    const seen = new Set<string>();
    for (const [id, , mutate] of MUTATIONS)
      for (const { pipeline, material, output } of samples.get(id) ?? [])
        for (const { reason } of stageOf(pipeline, id).check(
          mutate(output, material),
          material,
          pipeline.corpus,
        ))
          seen.add(`${id}: ${reason}`);
    expect(new Set(MUTATIONS.map(([id]) => id)).size).toBe(20);
    expect(seen.size).toBeGreaterThanOrEqual(80);
  });

  it('reports exactly the conventions that an answer breaks, for every stage and subset of its conventions', () => {
    let checked = 0;
    for (const [id, list] of samples) {
      for (const { pipeline, material } of list) {
        const stage = stageOf(pipeline, id);
        const own = pipeline.conventions.filter(({ stages }) => stages.includes(id));
        expect(own.length, id).toBeGreaterThan(0);
        for (let subset = 0; subset < 2 ** own.length; subset++) {
          const kept = own.filter((_, nth) => (subset & (1 << nth)) !== 0);
          for (const order of [kept, kept.toReversed()]) {
            const output = order.reduce(
              (answer, convention) => convention.keep(answer, { stage: id, corpus: pipeline.corpus }),
              stage.solve(material, pipeline.corpus),
            );
            const problems = pipeline.check(stage, output, material);
            expect(
              problems.filter(({ convention }) => convention === undefined),
              id,
            ).toEqual([]);
            expect(problems.map(({ convention }) => convention).sort(), id).toEqual(
              own
                .filter((one) => !kept.includes(one))
                .map((one) => one.id)
                .sort(),
            );
            checked++;
          }
        }
      }
    }
    expect(checked).toBeGreaterThan(18 * 2 * SEEDS.length);
  });

  it('rejects arbitrary JSON without throwing', () => {
    const odd: readonly Json[] = [null, -1, '', [], [null], [[]], {}, { key: {} }];
    let checked = 0;
    for (const [id, list] of samples) {
      const [one] = list;
      if (one === undefined) continue;
      const { pipeline, material, output } = one;
      const stage = stageOf(pipeline, id);
      expect(pipeline.check(stage, {}, material).length).toBeGreaterThan(0);
      for (const name of Object.keys(output))
        for (const value of odd) {
          // No work is uncited: an empty list is right.
          if (JSON.stringify(value) === JSON.stringify(output[name])) continue;
          const found = pipeline.check(stage, { ...output, [name]: value }, material);
          expect(found.length, `${id}.${name} = ${JSON.stringify(value)}`).toBeGreaterThan(0);
          checked++;
        }
    }
    expect(checked).toBeGreaterThan(300);
  });
});
