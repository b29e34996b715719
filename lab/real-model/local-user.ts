/**
 * npm run bench:local-user -- --chat http://127.0.0.1:8099/v1 [--model qwen --place message --prompts 50 --seed 1 --learn --unread --write]
 *
 * Instar with a local model only, as a new user has it: `instar init` on an empty home, a daemon of its own, no key. The user asks for
 * small files (the suite `desk`), says in the chat what is wrong with them, and asks for others on the next day. The same prompts are
 * asked before the first correction and after the last, each in a session of its own.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { createRandom } from '../../src/base/random.ts';
import { sleep } from '../../src/base/sleep.ts';
import { asArray, asObject, asString, type JsonObject, parseJson } from '../../src/core/json.ts';
import { wilsonInterval } from '../../src/stats/interval.ts';
import { markdownTable, writeSection } from '../measure/markdown.ts';
import { pairedBootstrap } from '../report/paired-bootstrap.ts';
import { DESK_SAMPLING, DESK_SYSTEM, deskHouse, gradeDeskReply } from '../suites/desk/desk.ts';
import { tellRule } from '../suites/desk/desk-rules.ts';
import { type DeskTask, drawDeskTask } from '../suites/desk/desk-tasks.ts';
import { openUserHome, type UserDaemon, type UserMessage } from './user-daemon.ts';

const { values } = parseArgs({
  options: {
    chat: { type: 'string', default: 'http://127.0.0.1:8099/v1' },
    model: { type: 'string', default: 'qwen' },
    /** `library.place`. */
    place: { type: 'string', default: 'message' },
    prompts: { type: 'string', default: '50' },
    /** Corrections of each rule. */
    times: { type: 'string', default: '3' },
    seed: { type: 'string', default: '1' },
    /** The same model also writes and judges lessons. */
    learn: { type: 'boolean', default: false },
    /** No model reads what was said or writes lessons (`models.evolver: "off"`). */
    unread: { type: 'boolean', default: false },
    write: { type: 'boolean', default: false },
  },
});
const seed = Number(values.seed);
const began = performance.now();
const say = (line: string): void =>
  void process.stderr.write(`${Math.round((performance.now() - began) / 1000)} s ${line}\n`);
const root = mkdtempSync(path.join(tmpdir(), 'instar-local-user-'));
/** One rule for each family of files: those that count from the first day. */
const rules = deskHouse(seed, 'report').filter(({ since }) => since === 0);
const options = { max_tokens: DESK_SAMPLING.maxTokens, temperature: DESK_SAMPLING.temperature };

interface Prompt {
  readonly task: DeskTask;
  readonly rule: (typeof rules)[number];
}
const prompts: readonly Prompt[] = Array.from({ length: Number(values.prompts) }, (_, at) => {
  const rule = rules[at % rules.length];
  if (rule === undefined) throw new Error('a house without rules');
  return { rule, task: drawDeskTask(rule.form.family, 'report', createRandom(`local-user/${seed}/${at}`)) };
});
const begin = (task: DeskTask): readonly UserMessage[] => [
  { role: 'system', content: DESK_SYSTEM },
  { role: 'user', content: task.request },
];

interface Answer {
  readonly done: boolean;
  readonly followed: boolean;
  readonly reply: string;
}

async function askAll(daemon: UserDaemon, name: string): Promise<readonly Answer[]> {
  const answers: Answer[] = [];
  for (const [at, { task, rule }] of prompts.entries()) {
    const reply = await daemon.ask(`${name}-${at}`, begin(task), options);
    const { isDone, broken } = gradeDeskReply(reply, task, [rule]);
    answers.push({ done: isDone === true, followed: isDone === true && broken.length === 0, reply });
    if ((at + 1) % 10 === 0) say(`${name}: ${at + 1} of ${prompts.length}`);
  }
  return answers;
}

/** The user works, and says in the chat what is wrong. */
async function correct(daemon: UserDaemon): Promise<number> {
  let corrections = 0;
  for (let time = 0; time < Number(values.times); time++)
    for (const rule of rules) {
      const random = createRandom(`local-user/${seed}/work/${rule.id}/${time}`);
      const task = drawDeskTask(rule.form.family, 'report', random);
      const session = `work-${rule.id}-${time}`;
      const asked = begin(task);
      const reply = await daemon.ask(session, asked, options);
      if (gradeDeskReply(reply, task, [rule]).broken.length === 0) continue;
      corrections++;
      const said = tellRule(rule, 'report', random.below(9));
      const talk = [
        ...asked,
        { role: 'assistant', content: reply },
        { role: 'user', content: said },
      ] as const;
      await daemon.ask(session, talk, options);
    }
  return corrections;
}

const CALM_MS = 2000;
const CALM_POLLS = 8;

/** The lessons, once none has come for a while: a model that answers at once would be asked again before anything was learned. */
async function settledLessons(): Promise<readonly JsonObject[]> {
  const list = async () => asArray(parseJson(await home.instar('lessons', 'list', '--json'))).map(asObject);
  let lessons = await list();
  for (let calm = 0; calm < CALM_POLLS; calm++) {
    await sleep(CALM_MS, new AbortController().signal);
    const now = await list();
    if (JSON.stringify(now) !== JSON.stringify(lessons)) calm = -1;
    lessons = now;
  }
  return lessons;
}

const count = (answers: readonly Answer[], what: 'done' | 'followed'): string => {
  const kept = answers.filter((one) => one[what]).length;
  const { low, high } = wilsonInterval(kept, answers.length);
  return `${kept} of ${answers.length} (${(100 * low).toFixed(0)} to ${(100 * high).toFixed(0)} %)`;
};

const home = openUserHome(root);
const words = ['--provider', 'box', '--wire', 'openai-chat', '--base-url', values.chat, '--pass-through'];
say(
  (await home.instar('init', ...words, '--model', values.model, ...(values.learn ? ['--learn'] : []))).trim(),
);
say((await home.instar('config', 'set', 'library.place', values.place)).trim());
if (values.unread) say((await home.instar('config', 'set', 'models.evolver', 'off')).trim());
const daemon = await home.up();
try {
  const before = await askAll(daemon, 'before');
  say(`before: rule followed ${count(before, 'followed')}, file as asked for ${count(before, 'done')}`);
  const corrections = await correct(daemon);
  const lessons = await settledLessons();
  say(`${corrections} corrections, ${lessons.length} lessons`);
  say(lessons.map(({ description }) => String(description)).join('\n'));
  const after = await askAll(daemon, 'after');
  say(`after: rule followed ${count(after, 'followed')}, file as asked for ${count(after, 'done')}`);
  const { mean, interval } = pairedBootstrap(
    after.map((one, at) => ({ block: String(at), a: Number(one.followed), b: Number(before[at]?.followed) })),
    { seed: 'local-user' },
  );
  const of = (answers: readonly Answer[], form: string): string =>
    String(answers.filter((one, at) => one.followed && prompts[at]?.rule.id === form).length);
  const each = prompts.length / rules.length;
  const text = [
    `${prompts.length} prompts, ${corrections} corrections of ${rules.length} rules in the chat, ${lessons.length} lessons${values.learn ? ', the model also judges' : ''}${values.unread ? ', no model reads' : ''}, library.place ${values.place}, seed ${seed}, ${new Date().toISOString().slice(0, 10)}, ${Math.round((performance.now() - began) / 60_000)} minutes.`,
    markdownTable(
      ['', 'before', 'after'],
      [
        ['rule followed', count(before, 'followed'), count(after, 'followed')],
        ['file as asked for', count(before, 'done'), count(after, 'done')],
        ...rules.map(({ id, value }) => [`${id}: ${value} (of ${each})`, of(before, id), of(after, id)]),
      ],
    ),
    `After minus before, rule followed: ${(100 * (mean ?? 0)).toFixed(0)} points${interval === undefined ? '' : ` (${(100 * interval.low).toFixed(0)} to ${(100 * interval.high).toFixed(0)})`}.`,
    `Lessons: ${lessons.map((one) => asString(one.description) ?? asString(one.name) ?? '').join('; ')}`,
  ].join('\n\n');
  process.stdout.write(`${text}\n`);
  if (values.write) writeSection('lab/results/local-models.md', 'bench:local-user', text);
} finally {
  await daemon.down();
  rmSync(root, { recursive: true, force: true });
}
