import { asArray, asNumber, asObject, asString, type JsonObject } from '../../../../src/core/json.ts';
import { textList } from '../answer-text.ts';
import type { Corpus } from '../corpus.ts';
import { experimentFile, measure, tryProgram } from '../measurements.ts';
import type { ProgramJob, ProgramLanguage } from '../run-program.ts';
import { type CodeStage, createChecks, type ModelStage } from '../stage.ts';

interface ExperimentArm {
  readonly id: string;
  readonly method: string;
  readonly role: 'treatment' | 'baseline';
}

/** The input of the experiment runner. */
interface ExperimentSpec {
  readonly name: string;
  readonly dataset: string;
  readonly metric: string;
  readonly seeds: readonly number[];
  readonly arms: readonly ExperimentArm[];
  readonly timeoutS: number;
  readonly language: ProgramLanguage;
  readonly program: string;
}

const LONGEST_PROGRAM = 20_000;
/** The most that one run of a program may take, whatever its specification says. */
const LONGEST_RUN_S = 30;

const SLUG = /^[a-z0-9]+(?:-[a-z0-9]+)*$/;
const LONGEST_SLUG = 64;
const isSlug = (text: string): boolean => text.length <= LONGEST_SLUG && SLUG.test(text);

/** A runnable specification, or all reasons why it is not one. */
function readSpec(
  value: JsonObject,
):
  | { readonly ok: true; readonly spec: ExperimentSpec }
  | { readonly ok: false; readonly why: string; readonly faults: readonly string[] } {
  const faults: string[] = [];
  const need = (isSo: boolean, fault: string): void => void (isSo || faults.push(fault));
  const name = asString(value.name) ?? '';
  const dataset = asString(value.dataset) ?? '';
  const metric = asString(value.metric) ?? '';
  const timeoutS = asNumber(value.timeout_s) ?? 0;
  const seeds = asArray(value.seeds).flatMap((seed) => (Number.isSafeInteger(seed) ? [Number(seed)] : []));
  const arms = asArray(value.arms).map((arm): ExperimentArm => {
    const { id, method, role } = asObject(arm);
    need(role === 'treatment' || role === 'baseline', 'Give each arm the role treatment or baseline.');
    return {
      id: asString(id) ?? '',
      method: asString(method) ?? '',
      role: role === 'treatment' ? 'treatment' : 'baseline',
    };
  });
  need(isSlug(name), 'Name the specification in lower-case letters, digits and hyphens.');
  need(dataset !== '' && metric !== '', 'Name dataset and metric in the specification.');
  need(seeds.length > 0 && seeds.length === asArray(value.seeds).length, 'Give the seeds as whole numbers.');
  need(
    arms.every(({ id }) => isSlug(id)) && new Set(arms.map(({ id }) => id)).size === arms.length,
    'Give each arm an id of its own in lower-case letters, digits and hyphens.',
  );
  need(
    arms.filter(({ role }) => role === 'treatment').length === 1 && arms.length >= 2,
    'Describe one treatment and at least one baseline.',
  );
  need(
    arms.every(({ method }) => method !== ''),
    'Name the method of each arm.',
  );
  need(
    Number.isSafeInteger(timeoutS) && timeoutS >= 1 && timeoutS <= 7200,
    'Set timeout_s to whole seconds from 1 to 7200.',
  );
  const language = value.language === 'python' ? 'python' : 'javascript';
  const program = asString(value.program) ?? '';
  need(value.language === language, 'Set language to javascript or python.');
  need(
    program.trim() !== '' && program.length <= LONGEST_PROGRAM,
    `Write the program into the field program, with at most ${LONGEST_PROGRAM} characters.`,
  );
  if (faults.length === 0)
    return { ok: true, spec: { name, dataset, metric, seeds, arms, timeoutS, language, program } };
  const found = [...new Set(faults)];
  return { ok: false, why: found.join(' '), faults: found };
}

export const experimentPlan: ModelStage = {
  id: 'experiment-plan',
  kind: 'model',
  needs: ['hypothesis'],
  task: 'Write the planning document for the experiment that tests the hypothesis: what is tried, against which baselines, on what data, with which seeds.',
  form: [
    'treatment: the method that the hypothesis favours',
    'baselines: at least two other methods, the rival among them',
    'dataset: one of the datasets; metric: the metric',
    'seeds: at least three different whole numbers; minutes: the time it may take, 1 to 120',
  ],
  material: (dossier, { topic }) => ({
    hypothesis: dossier.get('hypothesis')?.hypothesis ?? '',
    favoured: topic.focus,
    rival: topic.rival,
    methods: [...topic.field.methods],
    datasets: [...topic.field.datasets],
    metric: topic.field.metric,
  }),
  solve: (_, { topic: { focus, rival, field } }) => ({
    treatment: focus,
    baselines: [rival, field.methods.find((name) => name !== focus && name !== rival) ?? ''],
    dataset: field.datasets[0] ?? '',
    metric: field.metric,
    seeds: [1, 2, 3],
    minutes: 30,
  }),
  check: (output, _, { topic: { focus, rival, field } }) => {
    const { need, problems } = createChecks();
    const baselines = textList(output.baselines) ?? [];
    const seeds = asArray(output.seeds);
    const minutes = asNumber(output.minutes) ?? 0;
    need(output.treatment === focus, 'Try the method that the hypothesis favours.', String(output.treatment));
    need(
      new Set(baselines).size >= 2 &&
        new Set(baselines).size === baselines.length &&
        baselines.includes(rival),
      'Plan at least two different baselines, the rival among them.',
      baselines.join(', '),
    );
    need(
      baselines.every((name) => field.methods.includes(name) && name !== focus),
      'Take baselines from the methods of the field, and never the treatment itself.',
      baselines.join(', '),
    );
    need(
      field.datasets.includes(asString(output.dataset) ?? ''),
      'Choose a dataset of the field.',
      String(output.dataset),
    );
    need(output.metric === field.metric, 'Measure by the metric of the material.', String(output.metric));
    need(
      seeds.length >= 3 &&
        new Set(seeds).size === seeds.length &&
        seeds.every((seed) => Number.isSafeInteger(seed)),
      'List at least three different whole numbers as seeds.',
      seeds.join(', '),
    );
    need(minutes >= 1 && minutes <= 120, 'Plan between 1 and 120 minutes.', String(output.minutes));
    return problems;
  },
};

export const experimentSpec: ModelStage = {
  id: 'experiment-spec',
  kind: 'model',
  needs: ['experiment-plan'],
  task: 'Write the specification that the runner of the experiment takes, and the program that it runs: one arm for the treatment and one for each baseline of the plan, with dataset, metric and seeds as planned. The program measures each arm with each seed by the protocol.',
  form: [
    'name: lower-case letters, digits and hyphens',
    'dataset, metric, seeds: as in the plan',
    'arms: a list of { id, method, role }; id: lower-case letters, digits and hyphens, each different; role: treatment or baseline',
    'timeout_s: whole seconds, 1 to 7200',
    'language: javascript (for node, as a CommonJS script) or python (standard library only)',
    'program: the source text. It runs in a folder with data.csv and experiment.json ({ dataset, metric, seeds, arms: [{ id, method, role }] }) and prints one line {"arm": id, "seed": number, "value": percent} for each arm and seed, the same whenever it runs',
  ],
  material: (dossier, { topic: { field } }) => {
    const {
      treatment = '',
      baselines = [],
      dataset = '',
      metric = '',
      seeds = [],
      minutes = 0,
    } = dossier.get('experiment-plan') ?? {};
    const methods = [treatment, ...(textList(baselines) ?? [])].map((method) => String(method));
    return {
      plan: { treatment, baselines, dataset, metric, seeds, minutes },
      protocol: field.protocol,
      methods: Object.fromEntries(methods.map((method) => [method, field.definitions[method] ?? ''])),
      data: field.data(String(dataset)).split('\n').slice(0, 4),
    };
  },
  solve: (material, { topic: { field } }) => {
    const plan = asObject(material.plan);
    const methods = [asString(plan.treatment) ?? '', ...(textList(plan.baselines) ?? [])];
    return {
      name: 'first-comparison',
      dataset: plan.dataset ?? '',
      metric: plan.metric ?? '',
      seeds: plan.seeds ?? [],
      arms: methods.map((method, nth) => ({
        id: method.replaceAll(' ', '-'),
        method,
        role: nth === 0 ? 'treatment' : 'baseline',
      })),
      timeout_s: 1800,
      language: 'javascript',
      program: field.program,
    };
  },
  check: (output, material) => {
    const { need, problems } = createChecks();
    const plan = asObject(material.plan);
    const read = readSpec(output);
    if (!read.ok) return read.faults.map((reason) => ({ reason }));
    const { spec } = read;
    const planned = [
      `treatment ${String(plan.treatment)}`,
      ...(textList(plan.baselines) ?? []).map((name) => `baseline ${name}`),
    ];
    const arms = spec.arms.map(({ role, method }) => `${role} ${method}`);
    need(
      [...arms].sort().join() === planned.sort().join(),
      'Give the specification one arm for the treatment and one for each planned baseline.',
      arms.join(', '),
    );
    need(
      spec.seeds.join() === asArray(plan.seeds).join(),
      'Take the seeds from the plan.',
      spec.seeds.join(', '),
    );
    need(
      spec.dataset === plan.dataset && spec.metric === plan.metric,
      'Take dataset and metric from the plan.',
    );
    return problems;
  },
  tryOut: async (output, corpus, { runProgram, signal }) => {
    const read = readSpec(output);
    return read.ok ? tryProgram(jobOf(read.spec, corpus), read.spec, runProgram, signal) : [];
  },
};

/** Runs the program of the specification. What it prints is the result. */
export const runExperiment: CodeStage = {
  id: 'run-experiment',
  kind: 'code',
  isScorable: true,
  needs: ['experiment-spec'],
  perform: async (dossier, corpus, { runProgram, signal }) => {
    const read = readSpec(dossier.get('experiment-spec') ?? {});
    if (!read.ok) return { problems: read.faults.map((reason) => ({ reason })) };
    const { spec } = read;
    const measured = await measure(jobOf(spec, corpus), spec, runProgram, signal);
    if (!measured.ok) return { problems: [measured.problem] };
    return {
      metric: spec.metric,
      dataset: spec.dataset,
      runs: spec.arms.map(
        ({ id, method, role }): JsonObject => ({
          arm: id,
          method,
          role,
          values: [...(measured.values.get(id) ?? [])],
        }),
      ),
    };
  },
};

const jobOf = (spec: ExperimentSpec, { topic }: Corpus): ProgramJob => ({
  language: spec.language,
  program: spec.program,
  data: topic.field.data(spec.dataset),
  experiment: experimentFile(spec),
  timeoutMs: Math.min(spec.timeoutS, LONGEST_RUN_S) * 1000,
});
