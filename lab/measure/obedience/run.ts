import { readFileSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { createNanoTemplate } from '../../../train/nano/policy/nano-template.ts';
import { createNanoTokenizer } from '../../../train/nano/policy/tokenizer.ts';
import { readVocabulary } from '../../../train/nano/policy/vocabulary.ts';
import { openNano } from '../../../train/nano/shipped-policy.ts';
import { SPLITS } from '../../workdays/world.ts';
import { judgeTrial } from './judge-trial.ts';
import { makeTrials, ORIGINS, type Trial } from './make-trials.ts';
import { type Decoding, type Judged, tableOf, tallyConditions, tallyForms } from './tally.ts';

/*
 * Whether the embedded policy obeys rules that it is told: of forms and values that pre-training saw, of values that it never saw, and of
 * forms that it never saw; told in several ways, or not at all; greedy and sampled at T = 1. Tasks, names and wordings are of a split
 * that pre-training never saw.
 *
 *   npm run bench:obedience [-- --json] [--rules seed:1] [--count 40] [--tasks 2] [--split report] [--origin unseen-forms] [--model FOLDER]
 *
 * `--prompts FILE` writes the prompts instead; `--replies FILE` judges replies to them, sampled elsewhere.
 */
const { values } = parseArgs({
  options: {
    json: { type: 'boolean', default: false },
    rules: { type: 'string', default: 'seed:1' },
    count: { type: 'string', default: '40' },
    tasks: { type: 'string', default: '2' },
    split: { type: 'string', default: 'report' },
    origin: { type: 'string', multiple: true },
    model: { type: 'string' },
    show: { type: 'string', default: '0' },
    prompts: { type: 'string' },
    replies: { type: 'string' },
  },
});
const say = (text: string) => process.stdout.write(`${text}\n`);
const split = SPLITS.find((one) => one === values.split);
if (split === undefined) throw new Error(`--split is one of ${SPLITS.join(', ')}`);
const trials = makeTrials({
  seed: values.rules.replace(/^seed:/, ''),
  count: Number(values.count),
  tasks: Number(values.tasks),
  split,
  origins: ORIGINS.filter((origin) => values.origin?.includes(origin) ?? true),
});
const nano =
  values.prompts === undefined && values.replies === undefined ? await openNano(values.model) : undefined;
const tokenizer = nano?.tokenizer ?? readTokenizer();
const template = createNanoTemplate(tokenizer);

function readTokenizer() {
  const vocabulary = readVocabulary(readFileSync(`${values.model ?? 'models/nano'}/tokenizer.json`, 'utf8'));
  if (vocabulary === undefined) throw new Error('there is no vocabulary');
  return createNanoTokenizer(vocabulary);
}

const promptOf = ({ request }: Trial): Int32Array => {
  const rendered = template.render(request);
  if (rendered.is !== 'prompt') throw new Error('a task that the policy does not take for one');
  return Int32Array.from(rendered.tokens);
};

async function sample(prompt: Int32Array, decoding: Decoding, seed: number): Promise<Iterable<number>> {
  const common = { prompt, count: 1, maxTokens: template.longestReply, topK: -1, topP: 1, seed };
  if (nano === undefined) throw new Error('there is no engine');
  const { sequences } = await nano.engine.sample(
    undefined,
    { ...common, temperature: decoding === 'greedy' ? 0 : 1, stop: template.stop },
    new AbortController().signal,
  );
  return sequences[0]?.tokens ?? [];
}

async function judgeAll(): Promise<readonly Judged[]> {
  const given =
    values.replies === undefined
      ? undefined
      : (JSON.parse(readFileSync(values.replies, 'utf8')) as Readonly<Record<Decoding, readonly number[][]>>);
  const judged: Judged[] = [];
  for (const [at, trial] of trials.entries())
    for (const decoding of ['greedy', 'sampled'] as const) {
      const tokens = given === undefined ? await sample(promptOf(trial), decoding, at) : given[decoding][at];
      judged.push({ trial, decoding, outcome: await judgeTrial(trial, tokens ?? [], tokenizer) });
    }
  return judged;
}

if (values.prompts === undefined) {
  const judged = await judgeAll();
  const [conditions, forms] = [tallyConditions(judged), tallyForms(judged)];
  if (values.json) say(JSON.stringify({ rules: values.rules, split, conditions, forms }, null, 2));
  else {
    say(`${tableOf('told', conditions)}\n\n${tableOf('form, told alone', forms)}`);
    const failed = judged.filter(
      ({ trial, outcome }) => outcome.obeyed.length < trial.rules.length && trial.condition !== 'none',
    );
    for (const { trial, decoding, outcome } of failed.slice(0, Number(values.show)))
      say(
        `\n${trial.origin} ${trial.condition} ${decoding} ${trial.rules.map(({ form }) => form).join()}\n${tokenizer.decode(promptOf(trial))}\n=> ${outcome.text}`,
      );
  }
} else writeFileSync(values.prompts, JSON.stringify(trials.map((trial) => [...promptOf(trial)])));
await nano?.close();
