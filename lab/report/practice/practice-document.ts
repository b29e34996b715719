import { VERSION } from '../../../src/base/package.ts';
import { asArray, asNumber, asObject, asString, type JsonObject } from '../../../src/core/json.ts';
import { type ReportDocument, type Section, tableBlock } from '../document.ts';
import { createTable, numberColumn, textColumn } from '../table.ts';

const words = (value: unknown): string => (typeof value === 'string' ? value : '');
const cell = (text: string) => ({ text });
const amount = (value: unknown): number => (typeof value === 'number' ? value : 0);

/** A session of practice as a report: its tasks with every reward, what was learned, what it cost. */
export function practiceDocument(report: JsonObject): ReportDocument {
  const tasks = asArray(report.perTask).map(asObject);
  const lessons = asArray(report.lessons).map(asObject);
  const counts = asObject(report.counts);
  const forgotten = asArray(report.forgottenTasks).map(String);
  const rewards = tasks.flatMap(({ rewards: list }) => asArray(list).flatMap((one) => asNumber(one) ?? []));
  const mean = rewards.length === 0 ? undefined : rewards.reduce((sum, one) => sum + one, 0) / rewards.length;
  return {
    head: {
      run: words(report.run),
      suite: 'practice',
      options: { kind: words(report.kind), end: words(report.end), why: words(report.why) },
      policy: words(report.kind),
      startedAt: words(report.at),
      version: VERSION,
    },
    remarks: [
      ...(typeof report.note === 'string' ? [`It ended early: ${report.note}.`] : []),
      ...(amount(counts.infrastructure) > 0
        ? [
            `${amount(counts.infrastructure)} attempts failed for reasons of our own; they taught nothing and are in no mean.`,
          ]
        : []),
      ...asArray(asObject(report.weights).said).map((line) => `Weights: ${String(line)}.`),
      ...(forgotten.length > 0
        ? [`${forgotten.length} tasks that passed before did not pass any more: ${forgotten.join(', ')}.`]
        : []),
    ],
    size: `${tasks.length} tasks, ${rewards.length} graded attempts${mean === undefined ? '' : `, mean reward ${mean.toFixed(2)}`}`,
    results: [],
    sections: [taskSection(tasks), lessonSection(lessons), costSection(asArray(report.stages).map(asObject))],
    footer:
      'Rewards are 0 to 1. A lesson goes on trial here, and is in use without reserve only when it was measured to help on tasks that it was not learned from.',
  };
}

const taskSection = (tasks: readonly JsonObject[]): Section => ({
  title: 'Tasks',
  about: 'Each task was attempted several times. Only tasks whose rewards differ can teach something.',
  blocks: [
    tableBlock(
      createTable(tasks, [
        textColumn('task', ({ prompt, id }) => cell(asString(prompt) ?? words(id))),
        textColumn('from', ({ origin }) => cell(words(origin))),
        textColumn('rewards', ({ rewards }) =>
          cell(
            asArray(rewards)
              .map((one) => amount(one).toFixed(2))
              .join(' '),
          ),
        ),
        numberColumn('not graded', ({ failed }) => cell(String(amount(failed)))),
      ]),
    ),
  ],
});

const lessonSection = (lessons: readonly JsonObject[]): Section => ({
  title: 'Learned',
  about: 'What separated good attempts from bad ones, and what the gate made of it.',
  blocks: [
    tableBlock(
      createTable(lessons, [
        textColumn('lesson', ({ name }) => cell(words(name))),
        textColumn('says', ({ description }) => cell(words(description))),
        textColumn('outcome', ({ outcome }) => cell(words(outcome))),
        textColumn('now', ({ state }) => cell(words(state))),
        textColumn('why', ({ why }) => cell(asArray(why).map(String).join('; '))),
      ]),
    ),
  ],
});

const costSection = (stages: readonly JsonObject[]): Section => ({
  title: 'Cost',
  blocks: [
    tableBlock(
      createTable(stages, [
        textColumn('stage', ({ stage }) => cell(words(stage))),
        numberColumn('calls', ({ calls }) => cell(String(amount(calls)))),
        numberColumn('tokens', ({ tokens }) => cell(String(amount(tokens)))),
        numberColumn('$', ({ usd }) => cell(amount(usd).toFixed(4))),
      ]),
    ),
  ],
});
