import { describe, expect, it } from 'vitest';
import type { FailureCase } from '../../../src/core/learn.ts';
import type { LessonText } from '../../../src/core/lesson.ts';
import { appraise } from '../../../src/evidence/appraise.ts';
import { createDistiller } from '../../../src/learn/distiller/distiller.ts';
import { sentencesOf } from '../../../src/learn/distiller/sayings.ts';
import { isFrameLine } from '../../../src/learn/distiller/write-lesson.ts';
import { checkLessonText } from '../../../src/lessons/check-lesson-text.ts';
import { oneLine } from '../../../src/text/visible-text.ts';
import { turnOf } from '../../evidence/turn-fixtures.ts';
import { proposedText } from '../../support/proposed-text.ts';
import { failure, learnFrom, libraryWith } from '../evolver/samples.ts';
import { COMPLAINTS, TURNED_AROUND } from './corpora.ts';

const distiller = createDistiller({ checkText: checkLessonText });
const library = await libraryWith();
const TASK = 'Add the export of the invoices.';
const ANSWER = 'The export is there, with a test and a short note in the docs.';

/** The message read as a real one: what is heard of it is decided by the appraisal. Undefined when nothing is heard. */
function heard(said: string): FailureCase | undefined {
  const { correction, signals } = appraise(
    turnOf({
      task: TASK,
      reply: [{ type: 'text', text: ANSWER }],
      next: { tools: [], user: said },
    }),
  );
  if (correction === undefined) return undefined;
  return failure({
    scope: { agent: 'coder', project: 'shop' },
    source: 'chat',
    task: TASK,
    passages: [
      { origin: 'user', text: TASK },
      { origin: 'assistant', text: ANSWER },
      { origin: 'user', text: said },
    ],
    // As if it had been said for later work: nothing that is heard may be turned around, however it is learned.
    appraisal: { source: 'chat', signals, correction: { ...correction, isStanding: true } },
  });
}

const noted = (said: string): FailureCase => failure({ passages: [{ origin: 'person', text: said }] });

async function lessonsOf(one: FailureCase | undefined): Promise<readonly LessonText[]> {
  if (one === undefined) return [];
  const { proposals } = await learnFrom(distiller, [one], { library });
  return proposals.map(proposedText);
}

const flat = (text: string): string => oneLine(text.replace(/^> /gm, ''));

/** What a lesson says by itself: its line in the index, and each block of its body. */
const statementsOf = ({ description, content }: LessonText): readonly string[] =>
  [description.replace(/^"|"$/g, ''), ...content.split('\n\n')].map(flat);

/** Quotes that are cut out of a sentence could have lost their "not". */
function expectWholeSentences(lesson: LessonText, said: string): void {
  const evidence = [said, TASK, ANSWER, failure().task].map(oneLine);
  const sentences = [lesson.description.replace(/^"|"$/g, ''), ...lesson.content.split('\n')].flatMap(
    sentencesOf,
  );
  for (const statement of sentences.map(flat)) {
    if (isFrameLine(statement)) continue;
    const from = evidence.find((text) => text.includes(statement));
    expect(from, `“${statement}” is nobody's words`).toBeDefined();
    const at = from?.indexOf(statement) ?? 0;
    expect(from?.slice(0, at)).toMatch(/^$|[.!?…:;。！？)"”]\s?$|^[-*\d.]+ $/u);
    if (!/[。！？]$/.test(statement)) expect(from?.slice(at + statement.length)).toMatch(/^$|^\s/);
  }
}

describe('no lesson says the opposite of its evidence', () => {
  it('is tried with more than 300 messages', () =>
    expect(COMPLAINTS.length + TURNED_AROUND.length).toBeGreaterThan(300));

  it('has whole sentences of the person, and nothing else beside the task and the answer', async () => {
    let learned = 0;
    for (const said of [...COMPLAINTS, ...TURNED_AROUND.map((one) => one.said)])
      for (const lesson of [...(await lessonsOf(heard(said))), ...(await lessonsOf(noted(said)))]) {
        expectWholeSentences(lesson, said);
        learned++;
      }
    expect(learned).toBeGreaterThan(500);
  });

  it.each(TURNED_AROUND)('never “$rule” without “$turn”', async ({ said, rule, turn }) => {
    const lines = said.replaceAll(/(?<=[.!?]) /g, '\n');
    const ways = { chat: heard(said), chatLines: heard(lines), note: noted(said), noteLines: noted(lines) };
    for (const [way, one] of Object.entries(ways))
      for (const statement of (await lessonsOf(one)).flatMap(statementsOf))
        if (statement.includes(flat(rule))) expect(statement, way).toContain(flat(turn));
  });
});
