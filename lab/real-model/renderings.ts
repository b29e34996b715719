/**
 * npm run bench:real-renderings -- --url URL --model NAME --tokenizer FOLDER [--tasks 96 --temperature 0.2 --only TEXT]
 * npm run bench:real-renderings -- --chat http://127.0.0.1:8099/v1 --model NAME …
 *
 * The first asks a server of Tinker's protocol, the second one of OpenAI's chat API, such as lab/real-model/serve_cpu.py.
 *
 * How often a model follows a lesson, by how the lesson stands in the prompt: its form, its place, and what stands beside it.
 */
import { parseArgs } from 'node:util';
import { createRandom } from '../../src/base/random.ts';
import type { ChatRequest } from '../../src/core/chat.ts';
import { asArray, asNumber, asObject, asString } from '../../src/core/json.ts';
import type { Lesson } from '../../src/core/lesson.ts';
import { writeLesson } from '../../src/learn/distiller/write-lesson.ts';
import { renderBlock, renderDelta, renderLine } from '../../src/lessons/render-block.ts';
import { wilsonInterval } from '../../src/stats/interval.ts';
import { createLiveSkill } from '../measure/recall/synthetic.ts';
import { DESK_SAMPLING, DESK_SYSTEM, gradeDeskReply } from '../suites/desk/desk.ts';
import { DESK_FORMS, type DeskRule, deskRule, tellRule } from '../suites/desk/desk-rules.ts';
import { type DeskTask, drawDeskTask } from '../suites/desk/desk-tasks.ts';
import { writeDeskFile } from '../suites/desk/write-desk-file.ts';
import { some } from '../suites/workdays/draw.ts';
import { deskDistractors } from './desk-training.ts';
import { ENGINE_OPTIONS, openRealEngine, readEngineChoice } from './open-engine.ts';

const { values } = parseArgs({
  options: {
    ...ENGINE_OPTIONS,
    /** The base URL of a chat server, in place of a training server. */
    chat: { type: 'string' },
    tasks: { type: 'string', default: '96' },
    temperature: { type: 'string', default: '0.2' },
    /** Only renderings with one of these words in their name, separated by semicolons. */
    only: { type: 'string', default: '' },
  },
});
const temperature = Number(values.temperature);
const { signal } = new AbortController();

interface Asked {
  readonly reply: string;
  readonly tokens: number;
}
interface Asker {
  ask(request: ChatRequest, seed: number): Promise<Asked>;
  close(): Promise<void>;
}

async function openAsker(): Promise<Asker> {
  if (values.chat !== undefined) return openChatServer(values.chat);
  const { engine, template } = await openRealEngine(readEngineChoice(values), (line) =>
    process.stderr.write(`${line}\n`),
  );
  const sampler = await engine.openSampler(undefined);
  return {
    ask: async (request, seed) => {
      const prompt = template.render(request);
      if (prompt.is !== 'prompt') return { reply: '', tokens: 0 };
      const wanted = { count: 1, maxTokens: DESK_SAMPLING.maxTokens, temperature, stop: template.stop, seed };
      const [sampled] = await sampler.sample({ prompt: prompt.tokens, ...wanted }, signal);
      return { reply: template.read(sampled?.tokens ?? [], request).text, tokens: prompt.tokens.length };
    },
    close: async () => {
      await sampler.close();
      await engine.close();
    },
  };
}

/** One request after another: a server on a processor answers one at a time. */
function openChatServer(base: string): Asker {
  let last: Promise<unknown> = Promise.resolve();
  const ask = async ({ system, messages }: ChatRequest, seed: number): Promise<Asked> => {
    const words = (parts: readonly { readonly type: string }[]): string =>
      parts.map((part) => ('text' in part ? String(part.text) : '')).join('\n');
    const response = await fetch(`${base}/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({
        model: values.model,
        messages: [
          { role: 'system', content: words(system) },
          ...messages.map(({ role, content }) => ({ role, content: words(content) })),
        ],
        max_tokens: DESK_SAMPLING.maxTokens,
        temperature,
        seed,
      }),
    });
    const body = asObject(await response.json());
    const message = asObject(asObject(asArray(body.choices)[0]).message);
    return {
      reply: asString(message.content) ?? '',
      tokens: asNumber(asObject(body.usage).prompt_tokens) ?? 0,
    };
  };
  return {
    ask: (request, seed) => {
      const next = last.then(() => ask(request, seed));
      last = next.catch(() => undefined);
      return next;
    },
    close: async () => undefined,
  };
}

const asker = await openAsker();
const others = deskDistractors();

interface Trial {
  readonly task: DeskTask;
  readonly rule: DeskRule;
  readonly said: string;
  readonly lesson: Lesson;
  /** Lessons of other families, and of other domains. */
  readonly beside: readonly Lesson[];
  readonly far: readonly Lesson[];
  /** A task of another family. */
  readonly before: DeskTask;
}

const trials: readonly Trial[] = Array.from({ length: Number(values.tasks) }, (_, at) => {
  const random = createRandom(`renderings/${at}`);
  const form = DESK_FORMS[at % DESK_FORMS.length] ?? DESK_FORMS[0];
  if (form === undefined) throw new Error('no forms');
  const lessonOf = (rule: DeskRule, id: string): { readonly said: string; readonly lesson: Lesson } => {
    const said = tellRule(rule, 'gate', random.below(9));
    const asked = drawDeskTask(rule.form.family, 'gate', random).request;
    return {
      said,
      lesson: createLiveSkill({
        id,
        ...writeLesson({ speaker: 'user', count: 2, quotes: [said], tasks: [asked] }),
      }),
    };
  };
  const rule = deskRule(form, 'gate', random.below(9));
  const beside = some(
    random,
    DESK_FORMS.filter(({ family }) => family !== form.family),
    5,
  ).map((other, nth) => lessonOf(deskRule(other, 'gate', random.below(9)), `b${nth}`).lesson);
  return {
    task: drawDeskTask(form.family, 'gate', random),
    rule,
    ...lessonOf(rule, 'a'),
    beside,
    far: some(random, others, 24),
    before: drawDeskTask(form.family === 'sql' ? 'note' : 'sql', 'gate', random),
  };
});

const text = (words: string) => [{ type: 'text', text: words } as const];
const ask = (system: string, user: string): ChatRequest => ({
  model: 'policy',
  system: text(system),
  messages: [{ role: 'user', content: text(user) }],
  tools: [],
  stream: false,
});
const inSystem = (block: string, { task }: Trial): ChatRequest =>
  ask(`${DESK_SYSTEM}\n\n${block}`, task.request);
const plainRules = (lessons: readonly Lesson[]): string =>
  `Rules of this user for your work. Each applies to the kind of file that it names:\n${lessons.map((one) => `- ${one.text.description.replace(/^"|"$/g, '')}`).join('\n')}`;

/** The second request of a conversation, whose first one was about another kind of file, with the lesson as an update. */
function later({ task, lesson, beside, before }: Trial, place: 'before' | 'after'): ChatRequest {
  const update = renderDelta({ lessons: [lesson], withdrawn: [] });
  const words = place === 'after' ? [task.request, update] : [update, task.request];
  return {
    ...ask(`${DESK_SYSTEM}\n\n${renderBlock(beside)}`, words.join('\n\n')),
    messages: [
      { role: 'user', content: text(before.request) },
      { role: 'assistant', content: text(writeDeskFile(before, [])) },
      { role: 'user', content: text(words.join('\n\n')) },
    ],
  };
}

/** The user's words alone, the fitting ones last. */
const spoken = ({ said, beside }: Trial, others: number): string =>
  [
    ...beside.slice(0, others).map(({ text: { description } }) => description.replace(/^"|"$/g, '')),
    said,
  ].join('\n');

const RENDERINGS: Readonly<Record<string, (trial: Trial) => ChatRequest>> = {
  'no lesson': (trial) => ask(DESK_SYSTEM, trial.task.request),
  'block: this lesson': (trial) => inSystem(renderBlock([trial.lesson]), trial),
  'block: this and 5 of other kinds of files': (trial) =>
    inSystem(renderBlock([trial.lesson, ...trial.beside]), trial),
  'block: the same and 24 lines of other domains': (trial) =>
    inSystem(renderBlock([trial.lesson, ...trial.beside], trial.far), trial),
  'block: this lesson as a line': (trial) => inSystem(renderBlock([], [trial.lesson]), trial),
  'rules: this one': (trial) => inSystem(plainRules([trial.lesson]), trial),
  'rules: this and 5 of other kinds of files': (trial) =>
    inSystem(plainRules([...trial.beside, trial.lesson]), trial),
  'rules before the request: this one': (trial) =>
    ask(DESK_SYSTEM, `${plainRules([trial.lesson])}\n\n${trial.task.request}`),
  'rules before the request: this and 5': (trial) =>
    ask(DESK_SYSTEM, `${plainRules([...trial.beside, trial.lesson])}\n\n${trial.task.request}`),
  'rules after the request: this one': (trial) =>
    ask(DESK_SYSTEM, `${trial.task.request}\n\n${plainRules([trial.lesson])}`),
  'rules after the request: this and 5': (trial) =>
    ask(DESK_SYSTEM, `${trial.task.request}\n\n${plainRules([...trial.beside, trial.lesson])}`),
  'update after the request of a later message': (trial) => later(trial, 'after'),
  'update before the request of a later message': (trial) => later(trial, 'before'),
  'block after the request: this and 5': (trial) =>
    ask(DESK_SYSTEM, `${trial.task.request}\n\n${renderBlock([...trial.beside, trial.lesson])}`),
  'said after the request, new paragraph: this one': (trial) =>
    ask(DESK_SYSTEM, `${trial.task.request}\n\n${trial.said}`),
  'said after the request, new paragraph: this and 1': (trial) =>
    ask(DESK_SYSTEM, `${trial.task.request}\n\n${spoken(trial, 1)}`),
  'said after the request, new paragraph: this and 5': (trial) =>
    ask(DESK_SYSTEM, `${trial.task.request}\n\n${spoken(trial, 5)}`),
  'said after the request, with a reminder: this one': (trial) =>
    ask(DESK_SYSTEM, `${trial.task.request}\n\nAs I said before: ${trial.said}`),
  'said after the request, with a reminder: this and 1': (trial) =>
    ask(DESK_SYSTEM, `${trial.task.request}\n\nAs I said before: ${spoken(trial, 1)}`),
  'said in brackets behind the request: this one': (trial) =>
    ask(DESK_SYSTEM, `${trial.task.request} (As I said before: ${trial.said})`),
  'said behind the request, and the request named again: this one': (trial) =>
    ask(DESK_SYSTEM, `${trial.task.request}\n\nAs I said before: ${trial.said}\n\nThe whole file, please.`),
  'said before and asked after: this one': (trial) =>
    ask(DESK_SYSTEM, `As I said before: ${trial.said}\n\nNow: ${trial.task.request}`),
  'said before the request: this one': (trial) => ask(DESK_SYSTEM, `${trial.said}\n\n${trial.task.request}`),
  'said in the system prompt: this one': (trial) => inSystem(trial.said, trial),
  'said in the system prompt: this and 1': (trial) => inSystem(spoken(trial, 1), trial),
  'said after the request: this one': (trial) => ask(DESK_SYSTEM, `${trial.task.request} ${trial.said}`),
  'lines after the request: this and 5': (trial) =>
    ask(
      DESK_SYSTEM,
      `${trial.task.request}\n\nFollow these where they fit:\n${[...trial.beside, trial.lesson].map(renderLine).join('\n')}`,
    ),
};

const chosen = values.only.split(';').filter(Boolean);
for (const [name, render] of Object.entries(RENDERINGS)) {
  if (chosen.length > 0 && !chosen.some((one) => name.includes(one))) continue;
  const got = await Promise.all(
    trials.map(async (trial, at) => {
      const { reply, tokens } = await asker.ask(render(trial), at);
      const { broken, isDone } = gradeDeskReply(reply, trial.task, [trial.rule]);
      return { followed: broken.length === 0 && isDone === true, done: isDone === true, tokens, reply };
    }),
  );
  const followed = got.filter((one) => one.followed).length;
  const { low, high } = wilsonInterval(followed, got.length);
  const forms = DESK_FORMS.map(
    ({ id }) => `${id} ${got.filter((one, at) => trials[at]?.rule.form.id === id && one.followed).length}`,
  );
  const tokens = Math.round(got.reduce((sum, one) => sum + one.tokens, 0) / got.length);
  const done = got.filter((one) => one.done).length;
  const replies = got.map((one) => one.reply);
  const line = { name, temperature, followed, done, of: got.length, low, high, tokens, forms, replies };
  process.stdout.write(`${JSON.stringify(line)}\n`);
}
await asker.close();
