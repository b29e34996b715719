import { describe, expect, it } from 'vitest';
import { createCorpus } from '../../../lab/suites/pipeline/corpus.ts';
import { CACHE_FIELD } from '../../../lab/suites/pipeline/fields/cache-field.ts';
import { LEAF_FIELD } from '../../../lab/suites/pipeline/fields/leaf-field.ts';
import { ORBIT_FIELD } from '../../../lab/suites/pipeline/fields/orbit-field.ts';
import {
  experimentFile,
  measure,
  readMeasurements,
  tryProgram,
} from '../../../lab/suites/pipeline/measurements.ts';
import { createResearchPipeline } from '../../../lab/suites/pipeline/research-pipeline.ts';
import { type ProgramJob, runConfinedProgram } from '../../../lab/suites/pipeline/run-program.ts';
import { createOracleResearcher } from '../../../lab/suites/pipeline/scripted-researcher.ts';
import { confinementHere } from '../../../src/agent/sandbox/find-confiner.ts';
import { asObject, parseJson } from '../../../src/core/json.ts';
import { createMemoryReport } from '../../../src/pipeline/stage-report.ts';
import { runTrusted } from './run-trusted.ts';
import { speakTo } from './speak-to.ts';

const wall = await confinementHere();
const never = new AbortController().signal;
const FIELDS = [CACHE_FIELD, ORBIT_FIELD, LEAF_FIELD];
const spec = {
  dataset: 'Sun table',
  metric: 'tolerance rate',
  seeds: [11, 13, 17],
  arms: [
    { id: 'kepler', method: 'power law fit', role: 'treatment' },
    { id: 'line', method: 'straight line fit', role: 'baseline' },
  ],
};
const job = (program: string, more: Partial<ProgramJob> = {}): ProgramJob => ({
  language: 'javascript',
  program,
  data: ORBIT_FIELD.data('Sun table'),
  experiment: experimentFile(spec),
  timeoutMs: 20_000,
  ...more,
});
const each = (value: string): string =>
  `const { arms, seeds } = JSON.parse(require('fs').readFileSync('experiment.json', 'utf8'));
   for (const { id } of arms) for (const seed of seeds) console.log(JSON.stringify({ arm: id, seed, value: ${value} }));`;

describe('the data and programs of the fields', () => {
  it.each(FIELDS.map((field) => [field.name, field] as const))(
    '%s: every method gives a percentage on every dataset, no two methods agree everywhere',
    async (_, field) => {
      const rows = new Map<string, string>();
      for (const dataset of field.datasets) {
        const arms = field.methods.map((method, nth) => ({ id: `m${nth}`, method, role: 'baseline' }));
        const experiment = experimentFile({ dataset, metric: field.metric, seeds: [1, 2, 3], arms });
        const made = job(field.program, { data: field.data(dataset), experiment });
        const found = await measure(made, { arms, seeds: [1, 2, 3] }, runTrusted, never);
        if (!found.ok) throw new Error(JSON.stringify(found.problem));
        for (const [arm, values] of found.values) rows.set(arm, `${rows.get(arm) ?? ''} ${values.join(' ')}`);
        expect(field.data(dataset)).toBe(field.data(dataset));
      }
      expect(new Set(rows.values()).size).toBe(field.methods.length);
      for (const method of field.methods) expect(field.definitions[method], method).toBeTruthy();
    },
  );

  it('measure what is known: the cube of the distance goes with the square of the period (not with the period)', async () => {
    const found = await measure(job(ORBIT_FIELD.program), spec, runTrusted, never);
    if (!found.ok) throw new Error('no measurement');
    expect(found.values.get('kepler')).toEqual([100, 100, 100]);
    for (const value of found.values.get('line') ?? []) expect(value).toBeLessThan(50);
  });
});

describe('the output of a program', () => {
  const line = (arm: string, seed: number, value: unknown): string => JSON.stringify({ arm, seed, value });
  const lines = spec.arms.flatMap(({ id }) => spec.seeds.map((seed) => line(id, seed, seed)));
  it('is read by arm and seed in any order, between other lines', () => {
    const found = readMeasurements(['Begin', ...lines.toReversed(), '{"note": 1}', ''].join('\n'), spec);
    expect(found.ok && [...found.values]).toEqual([
      ['kepler', [11, 13, 17]],
      ['line', [11, 13, 17]],
    ]);
  });
  it.each([
    ['a missing line', lines.slice(1), 'none for kepler and seed 11'],
    ['a line twice', [...lines, lines[0] ?? ''], 'kepler 11 twice'],
    ['another arm', [...lines, line('other', 11, 5)], '1 lines of other arms'],
    ['a value above 100', [...lines.slice(1), line('kepler', 11, 140)], 'kepler 11: 140'],
    ['no number', [...lines.slice(1), line('kepler', 11, 'high')], 'kepler 11: undefined'],
    ['nothing', [], 'none for kepler'],
  ])('is refused with %s', (_, printed, detail) => {
    const found = readMeasurements(printed.join('\n'), spec);
    expect(found.ok ? '' : found.problem.detail).toContain(detail);
  });
});

describe.skipIf(!wall.ok)(
  `a program in the sandbox${wall.ok ? '' : ` (cannot be tried here: ${wall.why})`}`,
  { timeout: 60_000 },
  () => {
    const problems = async (program: string, more: Partial<ProgramJob> = {}): Promise<string> =>
      (await tryProgram(job(program, more), spec, runConfinedProgram, never))
        .map(({ reason, detail = '' }) => `${reason} ${detail}`)
        .join('\n');

    it('that measures is accepted, and gives what our own run of it gives', async () => {
      expect(await problems(ORBIT_FIELD.program)).toBe('');
      const own = await runTrusted(job(ORBIT_FIELD.program), never);
      const confined = await runConfinedProgram(job(ORBIT_FIELD.program), never);
      expect(confined).toMatchObject({ end: 'printed' });
      expect('stdout' in confined && confined.stdout.trim()).toBe('stdout' in own && own.stdout);
    });

    it('that prints made-up numbers is sent back: with other data it prints the same', async () => {
      expect(await problems(each('71.4'))).toContain('with other data it printed the same');
    });

    it('that draws its numbers is sent back: run again, it prints others', async () => {
      expect(await problems(each('100 * Math.random()'))).toContain(
        'run again, the program printed other values',
      );
    });

    it.each([
      ['throws', 'null.x', /exit code 1: TypeError/],
      ['is no program', 'Sure! Here is the program:', /exit code 1: SyntaxError/],
      ['never ends', 'for (;;);', /ran out of time/],
      ['takes all memory', 'const a = []; for (;;) a.push(new Array(1e6).fill(1));', /exit code/],
      ['floods its output', 'for (;;) console.log("x".repeat(1000));', /printed too much/],
      [
        'reads files of the host',
        "require('fs').readdirSync(process.env.HOME + '/../root').length",
        /exit code 1: Error: E/,
      ],
      [
        'asks the network',
        "fetch('http://127.0.0.1:9').catch((error) => { console.error('Error: ' + error.message); process.exit(1); })",
        /exit code 1/,
      ],
    ])('that %s is sent back with the reason', async (_, program, why) => {
      expect(
        await problems(program, { timeoutMs: program.startsWith('for (;;);') ? 2_000 : 50_000 }),
      ).toMatch(why);
    });

    it('may be written in Python where the machine has it', async () => {
      const program = [
        'import csv, json, statistics',
        "rows = list(csv.DictReader(open('data.csv')))",
        "job = json.load(open('experiment.json'))",
        "for arm in job['arms']:",
        "    for seed in job['seeds']:",
        "        share = len([r for r in rows if float(r['period']) > seed]) / len(rows)",
        "        print(json.dumps({'arm': arm['id'], 'seed': seed, 'value': 100 * share}))",
      ].join('\n');
      expect(await problems(program, { language: 'python' })).toMatch(/^$|Python is not installed/);
    });

    it('decides what the paper says: the results are what was printed (not numbers of the pipeline)', async () => {
      const pipeline = createResearchPipeline({ seed: 'lab', conventions: [] });
      const oracle = speakTo(createOracleResearcher(pipeline));
      let sentBack = '';
      let table = '';
      const run = await pipeline.run({
        // The first program is made up; the second prints 100 times the seed modulo 7, and needs the data for it.
        speak: async (request, speaker, signal) => {
          const said = await oracle(request, speaker, signal);
          if (speaker.session.includes(':result-table:')) table = JSON.stringify(request.messages);
          if (!speaker.session.includes(':experiment-spec:')) return said;
          const isFirst = request.messages.length === 1;
          if (!isFirst) sentBack = JSON.stringify(request.messages.at(-1));
          const value = isFirst
            ? '42.5'
            : "require('fs').readFileSync('data.csv', 'utf8').length % 50 + seed";
          return {
            ...said,
            text: JSON.stringify({ ...asObject(parseJson(said.text)), program: each(value) }),
          };
        },
        report: createMemoryReport().report,
        model: 'm',
        agent: 'lab',
        run: 1,
        signal: never,
      });
      expect(sentBack).toContain('with other data it printed the same');
      expect(run.stages.find(({ stage }) => stage === 'experiment-spec')).toMatchObject({
        status: 'completed',
        refines: 1,
      });
      const { topic } = createCorpus('lab');
      const length = `${topic.field.data(topic.field.datasets[0] ?? '')}\n`.length % 50;
      expect(table.replaceAll(/[\\\s]+n?/g, '')).toContain([1, 2, 3].map((seed) => length + seed).join(','));
      expect(run.stages.every(({ status }) => status === 'completed')).toBe(true);
    });

    it('is not held against the model where it cannot be run: the stage is interrupted (not failed)', async () => {
      const pipeline = createResearchPipeline({
        seed: 'lab',
        runProgram: async () => ({ end: 'refused', why: 'no wall here' }),
      });
      const { stages } = await pipeline.run({
        speak: speakTo(createOracleResearcher(pipeline)),
        report: createMemoryReport().report,
        model: 'm',
        agent: 'lab',
        run: 1,
        signal: never,
      });
      expect(stages.find(({ stage }) => stage === 'experiment-spec')).toMatchObject({
        status: 'interrupted',
      });
    });
  },
);
