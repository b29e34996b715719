/**
 * One life of a run of practice, on a real store: `node practice-process.mjs STORE CALLS MODE`. MODE `whole` runs to the end; `after` is
 * killed right after its first new write; `before` makes one new write, works on, and is killed before the second. Every attempt and
 * every call to the model is a line in CALLS.
 */
import { createHash } from 'node:crypto';
import { appendFileSync } from 'node:fs';
import { createManualClock } from '../../../build/src/core/clock.js';
import { createRunBudget } from '../../../build/src/cost/run-budget.js';
import { createAsk } from '../../../build/src/learn/ask.js';
import { createGate } from '../../../build/src/learn/gate/gate.js';
import { practice } from '../../../build/src/learn/practice/practice.js';
import { openPracticeJournal, spentByUnits } from '../../../build/src/learn/practice/practice-units.js';
import { checkLessonText } from '../../../build/src/lessons/check-lesson-text.js';
import { openLibrary } from '../../../build/src/lessons/library.js';
import { toRecords } from '../../../build/src/record/records.js';
import { openSqliteStore } from '../../../build/src/record/store/sqlite-store.js';

const [file, calls, mode] = process.argv.slice(2);
const clock = createManualClock(1_000);
const opened = openSqliteStore({ file });
let writes = 0;
const die = () => process.kill(process.pid, 'SIGKILL');
const store = {
  ...opened,
  append: (batch) => {
    const isNew = batch.facts.some(({ key }) => key === undefined || !known.has(key));
    if (mode === 'before' && isNew && writes === 1) die();
    const done = opened.append(batch);
    for (const { key } of batch.facts) if (key !== undefined) known.add(key);
    if (done.some((one) => one.isNew)) writes++;
    if (mode === 'after' && writes === 1) die();
    return done;
  },
};
const known = new Set();
for (const { fact } of opened.facts(0, 100_000)) {
  if (fact.type === 'practice-unit') known.add(`practice/${fact.run}/unit/${fact.unit}`);
  if (fact.type === 'practice-begun') known.add(`practice/${fact.run}/begun`);
  if (fact.type === 'practice-ended') known.add(`practice/${fact.run}/ended`);
  if (fact.type === 'cycle-end') known.add(`practice/${fact.cycle.replace(/-(\d+)$/, '/cycle/$1')}`);
}

const { library } = await openLibrary({
  load: async (after, limit) => store.factsOf('library-changed', after, limit),
  append: async (fact) => store.append({ facts: [fact] })[0],
  clock,
  newId: (prefix) => `${prefix}_${store.totals().facts}`,
  onFault: (error) => {
    throw error;
  },
});
const journal = await openPracticeJournal({ run: 'night', records: toRecords(store, clock.now), clock });
const budget = createRunBudget({
  limits: { calls: 1000 },
  setting: 'practice.budget',
  spent: spentByUnits(journal.units()),
});

const SUBJECTS = [
  'dates',
  'totals',
  'surnames',
  'colours',
  'fonts',
  'margins',
  'heads',
  'pages',
  'inches',
  'taxes',
];
const VERBS = [
  'Sort',
  'Compare',
  'Spell',
  'Choose',
  'Measure',
  'Convert',
  'Number',
  'Shorten',
  'Repeat',
  'Approve',
];
const tasks = Array.from({ length: 20 }, (_, at) => ({
  id: `curated/t${at}`,
  root: `t${at}`,
  origin: 'curated',
  prompt: `Write report t${at} about ${SUBJECTS[at % 10]}.`,
  domain: 'reports',
  check: { kind: 'exact', expected: `secret-answer-${at}` },
}));
const byte = (seed) => createHash('sha256').update(seed).digest()[0] ?? 0;
const reply = (text) => [
  { type: 'reply-start', id: 'r', model: 'm' },
  { type: 'text-delta', text },
  { type: 'reply-end', stop: 'end', usage: { inputTokens: 40, outputTokens: 10 } },
];
async function* model(request) {
  const user = request.messages.flatMap(({ content }) => content.map(({ text }) => text ?? '')).join('\n');
  const system = request.system.map(({ text }) => text).join('\n');
  appendFileSync(
    calls,
    `ask ${createHash('sha256')
      .update(system + user)
      .digest('hex')}\n`,
  );
  const at = Number(/report t(\d+) about/.exec(user)?.[1] ?? 0);
  if (system.startsWith('You compare several attempts'))
    yield* reply(
      JSON.stringify({
        situation: `${SUBJECTS[at % 10]} of report ${VERBS[(at * 7) % 10]} come up in a document`,
        insight: `${VERBS[at % 10]} the ${SUBJECTS[at % 10]} before ${SUBJECTS[(at * 3 + 1) % 10]} and ${VERBS[(at + 4) % 10].toLowerCase()} them again at the end.`,
        quotes: [`report t${at} was done with care`, `report t${at} was done in haste`],
      }),
    );
  else if (system.includes('do not fit together')) yield* reply('[{"conflict": 1, "operation": "NONE"}]');
  else
    yield* reply(
      at % 3 === 0
        ? '[{"operation": "UPDATE", "id": "E1", "content": "Read everything twice, and hand it over only then."}]'
        : '[{"operation": "add"}]',
    );
}
const gate = createGate({
  autonomy: 'guarded',
  checkText: checkLessonText,
  hasSecret: () => false,
  findSimilar: async () => [],
  voteDay: (at) => String(at),
});
const running = practice({
  run: 'night',
  kind: 'exploratory',
  tasks,
  settings: { batch: 10, concurrency: 1 },
  agent: 'test/policy',
  attempt: async (order) => {
    appendFileSync(calls, `attempt ${order.id}\n`);
    const isRight = byte(order.seed) % 2 === 0;
    const output = `The report ${order.task.root} was done ${isRight ? 'with care' : 'in haste'}. ${order.shown.text}`;
    return {
      ...{
        id: order.id,
        task: order.task.id,
        by: 'test/policy',
        generation: order.shown.generation,
        lessons: order.shown.lessons,
      },
      outcome: {
        is: 'graded',
        reward: isRight ? 1 : 0,
        reasons: [isRight ? 'it agrees' : 'it does not agree'],
      },
      output,
      steps: [],
      used: { calls: 1, tokens: 10, usd: 0.01, unpriced: 0, ms: 0 },
    };
  },
  lessonsFor: async () => {
    const shown = library.shown(clock.now());
    return {
      text: shown.map(({ text }) => text.content).join('\n'),
      lessons: shown.map(({ id }) => id),
      generation: library.generation,
    };
  },
  ask: createAsk({
    model,
    name: 'test/tiny',
    price: { from: 'local', price: { input: 0, output: 0 }, isLocal: true },
    budget,
    clock,
  }),
  ...{ library, gate, journal, budget, clock, record: journal.record, checkText: checkLessonText },
  signal: new AbortController().signal,
});
let next = await running.next();
while (!next.done) next = await running.next();
const lessons = library.lessons();
process.stdout.write(
  JSON.stringify({
    result: next.value,
    lessons,
    generation: library.generation,
    facts: opened.totals().facts,
  }),
);
opened.close();
