import { beforeEach, describe, expect, it } from 'vitest';
import type { Lesson } from '../../../src/core/lesson.ts';
import type { Library } from '../../../src/core/library.ts';
import { appraise } from '../../../src/evidence/appraise.ts';
import { MOST_OF_SESSION, readWorkingMemory } from '../../../src/learn/memory/working-memory.ts';
import { NOTES } from '../../../src/learn/memory/write/note-text.ts';
import { createNoteWriter } from '../../../src/learn/memory/write/write-notes.ts';
import { checkLessonText } from '../../../src/lessons/check-lesson-text.ts';
import { turnOf } from '../../evidence/turn-fixtures.ts';
import { lessonText } from '../../support/lesson-text.ts';
import { libraryWith } from '../evolver/samples.ts';

const SCOPE = { agent: 'coder', project: 'shop' };
const writer = createNoteWriter({ checkText: checkLessonText, mostOfSession: MOST_OF_SESSION });
let library: Library;
let sessions = 0;
let ids = 0;
/** When the messages were said; absent: after all that is known. */
let said: number | undefined;

beforeEach(async () => {
  library = await libraryWith();
});

const read = (messages: readonly string[]) =>
  messages.map((task, nth) => {
    const evidence = turnOf({ turn: `t${sessions}-${nth}`, task, reply: [{ type: 'text', text: 'Okay.' }] });
    return { evidence, appraisal: appraise(evidence), generation: 0 };
  });

/** Promotes a session's messages; what the writer proposes is published as it is. */
async function say(...messages: readonly string[]): Promise<void> {
  const saidAt = said ?? Number.MAX_SAFE_INTEGER;
  sessions++;
  const turns = read(messages);
  const material = {
    scope: SCOPE,
    statements: readWorkingMemory(turns),
    turns: new Map(turns.map(({ evidence }) => [evidence.turn, saidAt])),
  };
  const steps = writer.learn({
    ...{ material, library, ask: undefined, journal: () => undefined },
    newId: (prefix) => `${prefix}-${++ids}`,
    signal: new AbortController().signal,
  });
  const changes = [];
  for await (const step of steps)
    if ('change' in step) {
      const { change, turns: cited = [] } = step;
      if (change.op === 'add') changes.push({ ...change, state: 'trial' as const });
      // The gate names the turns in which the person took something back.
      else changes.push(change.op === 'retire' ? { ...change, turns: cited } : change);
    }
  if (changes.length > 0) {
    const by = { kind: 'learner', name: NOTES } as const;
    const { results } = await library.publish({ id: `set-${sessions}`, by, reason: 'test', changes });
    expect(results.filter(({ status }) => status === 'refused')).toEqual([]);
  }
}

const inUse = (): readonly Lesson[] => library.lessons().filter(({ state }) => state === 'trial');
const words = (): readonly string[] => inUse().map(({ text }) => text.description);
const noteOf = (part: string): Lesson | undefined =>
  library.lessons().find(({ text }) => text.description.includes(part));

describe('the write pipeline of notes', () => {
  it('adds what is new as an experience that quotes, with less confidence than a correction', async () => {
    await say('The server for demos is demo-3.');
    const note = noteOf('demo-3');
    expect(note).toMatchObject({
      kind: 'experience',
      text: { content: 'The user said:\n\n> The server for demos is demo-3.', scope: SCOPE },
    });
    expect(note?.text.note.confidence).toBeLessThan(0.7);
    expect(note?.text.evidence).toMatchObject({ turns: [`t${sessions}-0`], learner: NOTES });
  });

  it('says nothing twice: the same words again change nothing', async () => {
    await say('The server for demos is demo-3.');
    await say('the server for demos is demo-3');
    expect(words()).toEqual(['"The server for demos is demo-3."']);
    expect(noteOf('demo-3')?.revision).toBe(1);
  });

  it('updates: the newer value retires the older note in its favour, and leaves others alone', async () => {
    await say('The server for demos is demo-3.');
    await say('The login for demos is guest.');
    await say('the server for demos is demo-5 now');
    expect(words()).toEqual(['"The login for demos is guest."', '"the server for demos is demo-5 now"']);
    expect(noteOf('demo-3')).toMatchObject({ state: 'retired', supersededBy: noteOf('demo-5')?.id });
  });

  it('deletes what the user asks to forget, and lowers the confidence of what may be meant', async () => {
    await say('The gate code is 4471.');
    await say('The alarm code is 9023.');
    await say('Our tests run with vitest.', 'Our tests live in spec/.');
    await say('Forget the gate code.');
    expect(words()).not.toContain('"The gate code is 4471."');
    expect(words()).toContain('"The alarm code is 9023."');
    const before = noteOf('vitest')?.text.note.confidence ?? 0;
    await say('Please forget the tests.');
    expect(noteOf('vitest')?.state).toBe('trial');
    expect(noteOf('vitest')?.text.note.confidence).toBeLessThan(before);
  });

  it('is not turned back by a session that goes on after its end: what was said otherwise since stays', async () => {
    await say('The server for demos is demo-3.');
    await say('the server for demos is demo-5 now');
    said = 0;
    await say('The server for demos is demo-3.', 'What is next on the list?');
    said = undefined;
    expect(words()).toEqual(['"the server for demos is demo-5 now"']);
  });

  it('retires no lesson of a person, and none of another place', async () => {
    const told = (project: string) =>
      lessonText({
        ...{ name: `server-${project}`, description: '"The server for demos is demo-1."' },
        content: 'The user said:\n\n> The server for demos is demo-1.',
        scope: { agent: 'coder', project },
        evidence: { turns: ['t0'], quotes: [], learner: 'distiller' },
        note: { source: project === 'shop' ? 'told' : 'experience' },
      });
    library = await libraryWith(
      { op: 'add', id: 'told', kind: 'skill', state: 'trial', text: told('shop') },
      { op: 'add', id: 'elsewhere', kind: 'skill', state: 'trial', text: told('mail') },
    );
    await say('The server for demos is demo-5.');
    expect(inUse().map(({ id }) => id)).toEqual(expect.arrayContaining(['told', 'elsewhere']));
  });
});

describe('words that do not name what they are about', () => {
  const RETRO = 'Our retro is on Wednesdays.';
  const LUNCH = 'Our lunch is on Mondays.';
  const bare = (text: string): string => text.replaceAll('\n', ' ');

  it.each([
    ['alone, where one note can be meant', [['We moved it to Friday.']], 'We moved it to Friday.'],
    ['behind words that name it', [['Book a room for the retro.', "it's Thursday now"]], "it's Thursday now"],
    ['in the session of the fact itself', [[RETRO, 'We moved it to Friday.']], 'We moved it to Friday.'],
    [
      'once more: the newest update takes the place of the one before',
      [['We moved it to Friday.'], ['Prepare the retro.', 'They are on Tuesday now, by the way.']],
      'They are on Tuesday now, by the way.',
    ],
  ])('stand beside the fact that they update: %s', async (_, sessionsSaid, newest) => {
    await say(RETRO);
    for (const messages of sessionsSaid) await say(...messages);
    expect(words().map(bare)).toEqual([`"${RETRO} ${newest}"`]);
    expect(noteOf(newest)?.text.content).toBe(`The user said:\n\n> ${RETRO}\n> ${newest}`);
    // A new word that names it ends both.
    await say('Our retro is on Mondays now.');
    expect(words()).toEqual(['"Our retro is on Mondays now."']);
  });

  it('update nothing where two facts can be meant, where the session is about something else, or where they may tell the day', async () => {
    await say(RETRO, LUNCH);
    await say('We moved it to Friday.');
    await say('The release went well.', "it's Friday now");
    await say("it's Friday now");
    expect(words()).toEqual([`"${RETRO}"`, `"${LUNCH}"`, '"We moved it to Friday."']);
  });

  it('are found by what the session had been about where one of two facts can be meant', async () => {
    await say(RETRO, LUNCH);
    await say('Order the lunch for six.', "it's on Tuesdays now");
    expect(words()).toEqual([`"${RETRO}"`, `"${LUNCH} it's on Tuesdays now"`]);
  });
});

describe('an exception in a sentence of its own', () => {
  it.each([
    ['Always write our documents in English.', 'Except for invoices: those stay in German.'],
    ['We always squash commits.', 'Only release branches are merged without squashing.'],
    ['Answer me in German from now on.', 'Unless I write in French.'],
    ['Immer auf Deutsch antworten.', 'Außer bei Commits: die sind auf Englisch.'],
  ])('is kept with its rule: %s %s', async (rule, exception) => {
    await say(`${rule} ${exception}`);
    expect(words()).toEqual([`"${rule} ${exception}"`]);
  });
});

describe('the working memory of a session', () => {
  it('keeps the newest of what was said on one thing, and a bounded number', () => {
    const held = readWorkingMemory(read(['The queue is RabbitMQ.', 'no, the queue is NATS']));
    expect(held.map(({ quote }) => quote)).toEqual(['no, the queue is NATS']);
    const many = Array.from({ length: 30 }, (_, nth) => `The port of service s${nth} is 70${nth + 10}.`);
    expect(readWorkingMemory(read(many))).toHaveLength(MOST_OF_SESSION);
  });

  it('has nothing of what an agent reported about itself', () => {
    const [turn] = read(['Our server is demo-3.']);
    if (turn === undefined) throw new Error('no turn');
    expect(readWorkingMemory([turn])).toHaveLength(1);
    expect(readWorkingMemory([{ ...turn, evidence: { ...turn.evidence, isReported: true } }])).toEqual([]);
  });

  it('of one session becomes twelve notes at most, also where it is promoted twice', async () => {
    const say12 = Array.from({ length: 12 }, (_, nth) => `The port of service s${nth} is 70${nth + 10}.`);
    await say(...say12);
    expect(inUse()).toHaveLength(MOST_OF_SESSION);
    sessions--;
    await say(...say12, 'Our queue is NATS.');
    expect(inUse()).toHaveLength(MOST_OF_SESSION);
  });
});
