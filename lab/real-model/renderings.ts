/**
 * npm run bench:real-renderings -- --url URL --model NAME --tokenizer FOLDER [--tasks 96]
 *
 * How often a model follows a lesson, by how the lesson stands in the prompt: its form, its place, and what stands beside it.
 */
import { parseArgs } from 'node:util';
import { createRandom } from '../../src/base/random.ts';
import type { ChatRequest } from '../../src/core/chat.ts';
import type { Lesson } from '../../src/core/lesson.ts';
import { writeLesson } from '../../src/learn/distiller/write-lesson.ts';
import { renderBlock, renderLine } from '../../src/lessons/render-block.ts';
import { wilsonInterval } from '../../src/stats/interval.ts';
import { DESK_SAMPLING, DESK_SYSTEM, gradeDeskReply } from '../desk/desk.ts';
import { DESK_FORMS, type DeskRule, deskRule, tellRule } from '../desk/desk-rules.ts';
import { type DeskTask, drawDeskTask } from '../desk/desk-tasks.ts';
import { createLiveSkill } from '../measure/recall/synthetic.ts';
import { some } from '../workdays/draw.ts';
import { deskDistractors } from './desk-training.ts';
import { ENGINE_OPTIONS, openRealEngine, readEngineChoice } from './open-engine.ts';

const { values } = parseArgs({
  options: {
    ...ENGINE_OPTIONS,
    tasks: { type: 'string', default: '96' },
    temperature: { type: 'string', default: '0.2' },
  },
});
const { engine, template } = await openRealEngine(readEngineChoice(values), (line) =>
  process.stderr.write(`${line}\n`),
);
const sampler = await engine.openSampler(undefined);
const others = deskDistractors();

interface Trial {
  readonly task: DeskTask;
  readonly rule: DeskRule;
  readonly said: string;
  readonly lesson: Lesson;
  /** Lessons of other families, and of other domains. */
  readonly beside: readonly Lesson[];
  readonly far: readonly Lesson[];
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
  'block after the request: this and 5': (trial) =>
    ask(DESK_SYSTEM, `${trial.task.request}\n\n${renderBlock([...trial.beside, trial.lesson])}`),
  'said after the request: this one': (trial) => ask(DESK_SYSTEM, `${trial.task.request} ${trial.said}`),
  'lines after the request: this and 5': (trial) =>
    ask(
      DESK_SYSTEM,
      `${trial.task.request}\n\nFollow these where they fit:\n${[...trial.beside, trial.lesson].map(renderLine).join('\n')}`,
    ),
};

const { signal } = new AbortController();
for (const [name, render] of Object.entries(RENDERINGS)) {
  const got = await Promise.all(
    trials.map(async (trial, at) => {
      const request = render(trial);
      const prompt = template.render(request);
      if (prompt.is !== 'prompt') return { followed: false, done: false, tokens: 0, reply: '' };
      const [sampled] = await sampler.sample(
        {
          prompt: prompt.tokens,
          count: 1,
          maxTokens: DESK_SAMPLING.maxTokens,
          temperature: Number(values.temperature),
          stop: template.stop,
          seed: at,
        },
        signal,
      );
      const reply = template.read(sampled?.tokens ?? [], request).text;
      const { broken, isDone } = gradeDeskReply(reply, trial.task, [trial.rule]);
      return { followed: broken.length === 0, done: isDone === true, tokens: prompt.tokens.length, reply };
    }),
  );
  const followed = got.filter((one) => one.followed && one.done).length;
  const { low, high } = wilsonInterval(followed, got.length);
  const forms = DESK_FORMS.map(
    ({ id }) =>
      `${id} ${got.filter((one, at) => trials[at]?.rule.form.id === id && one.followed && one.done).length}`,
  );
  process.stdout.write(
    `${JSON.stringify({ name, followed, done: got.filter((one) => one.done).length, of: got.length, low, high, tokens: Math.round(got.reduce((sum, one) => sum + one.tokens, 0) / got.length), forms, replies: got.map((one) => one.reply) })}\n`,
  );
}
await sampler.close();
await engine.close();
