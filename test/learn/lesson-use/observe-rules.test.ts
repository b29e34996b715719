import { describe, expect, it } from 'vitest';
import type { RuleCheck } from '../../../src/core/check.ts';
import type { TurnEvidence } from '../../../src/core/evidence.ts';
import type { AppraisedTurn } from '../../../src/evidence/evidence-reader.ts';
import { UNKNOWN_LIKENESS } from '../../../src/learn/compare-words.ts';
import { createRuleObserver } from '../../../src/learn/lesson-use/observe-rules.ts';
import { readAdherence } from '../../../src/lessons/adherence/adherence.ts';
import { toRecords } from '../../../src/record/records.ts';
import { createMemoryStore } from '../../../src/record/store/memory-store.ts';
import { setOf } from '../../lessons/library/samples.ts';
import { lessonText } from '../../support/lesson-text.ts';
import { libraryWith } from '../evolver/samples.ts';

const NO_NPM: RuleCheck = {
  looksAt: 'commands',
  appliesWhen: [{ is: 'pattern', pattern: '\\b(?:p?npm)\\b' }],
  holdsWhen: [{ is: 'pattern', pattern: '\\bnpm\\b', max: 0 }],
  standing: 'accepted',
  by: 'person',
  proof: 'a test confirmed it',
};
const RULE = 'We always use pnpm here, never npm.';

const shell = (command: string) =>
  ({ type: 'tool-call', id: command, name: 'Bash', arguments: JSON.stringify({ command }) }) as const;
const said = (text: string) => ({ type: 'text', text }) as const;

function turnOf(
  turn: string,
  reply: TurnEvidence['reply'],
  over: Partial<AppraisedTurn> = {},
): AppraisedTurn {
  const evidence: TurnEvidence = {
    turn,
    session: 's',
    agent: 'coder',
    role: 'main',
    status: 'complete',
    task: 'install it',
    tools: [],
    reply,
    earlier: [],
    given: [],
    attempts: [],
  };
  return {
    evidence,
    appraisal: { turn, verdict: 'ambiguous', signals: [], digests: [] },
    generation: 1,
    shown: ['pnpm', 'quiet'],
    conversation: { messages: [{ role: 'assistant', content: reply }], from: 0, reply: 0 },
    ...over,
  };
}

/** A library with a rule that has a check and one that has none; `look` is one look of the learner at turns. */
async function setUp(session = 's') {
  const library = await libraryWith();
  const text = (name: string, description: string) =>
    lessonText({ name, description: `"${description}"`, content: `The user said:\n> ${description}` });
  await library.publish(
    setOf('told', [
      { op: 'add', id: 'pnpm', kind: 'skill', state: 'live', text: text('pnpm', RULE), check: NO_NPM },
      { op: 'add', id: 'quiet', kind: 'skill', state: 'live', text: text('quiet', 'Be brief.') },
    ]),
  );
  const records = toRecords(createMemoryStore(), () => 0);
  const work: (readonly string[])[] = [];
  const look = async (turns: readonly AppraisedTurn[], now = 5): Promise<number> => {
    const observe = createRuleObserver({
      records,
      library,
      evidence: { affectedTurns: async () => turns, turns: async () => turns },
      compareQuotes: async () => UNKNOWN_LIKENESS,
      onWork: (_, rules) => work.push(rules),
    });
    const facts = await observe(session, undefined, now);
    return (await records.append(facts)).filter(({ isNew }) => isNew).length;
  };
  /** The session began with a rule that the weights keep: its words were not shown. */
  const remember = (lesson: string) =>
    records.append([
      {
        at: 1,
        fact: {
          ...{ type: 'lessons-recalled', session, turn: 't1', thread: 'main', generation: 1, why: 'new' },
          ...{
            lessons: ['pnpm', 'quiet'],
            remembered: [lesson],
            heldOut: [],
            considered: [],
            engine: 'none',
          },
          domain: { name: 'general', reason: 'default' },
        },
      },
    ]);
  const forgottenAt = async (id: string) => (await readAdherence(records)).forgottenAt(id);
  const count = async (id: string) => (await readAdherence(records)).of(id);
  const begin = (turn: string, at: number) =>
    records.append([
      {
        at,
        fact: {
          type: 'turn-start',
          turn,
          session,
          agent: 'coder',
          role: 'main',
          wire: 'openai-chat',
          model: 'm',
          generation: 1,
          policy: 'm',
          lessons: [],
        },
      },
    ]);
  return { library, look, count, work, begin, remember, forgottenAt };
}

describe('an answer', () => {
  it('is checked when its tool loop has ended, all of it as one piece of work', async () => {
    const { look, count, work } = await setUp();
    await look([turnOf('t1', [shell('npm ci')])]);
    expect(await count('pnpm')).toMatchObject({ shown: 0 });
    expect(work).toEqual([['pnpm']]);
    const loop = { role: 'assistant', content: [shell('npm ci')] } as const;
    const reply = [said('Installed.')];
    const conversation = {
      messages: [loop, { role: 'assistant', content: reply } as const],
      from: 0,
      reply: 1,
    };
    await look([turnOf('t2', reply, { conversation })]);
    expect(await count('pnpm')).toEqual({ shown: 1, applied: 1, kept: 0, toldAgain: 0 });
  });

  it('that broke a rule which the weights were to keep without its words says so; one that kept it does not', async () => {
    const { look, remember, forgottenAt } = await setUp();
    await remember('pnpm');
    await look([turnOf('t1', [said('I ran pnpm ci: `pnpm ci`.')])]);
    expect(await forgottenAt('pnpm')).toBeUndefined();
    await look([turnOf('t2', [shell('npm ci')]), turnOf('t3', [said('Done.')])], 7);
    const loop = { role: 'assistant', content: [shell('npm ci')] } as const;
    const conversation = {
      messages: [loop, { role: 'assistant', content: [said('Done.')] } as const],
      from: 0,
      reply: 1,
    };
    await look([turnOf('t4', [said('Done.')], { conversation })], 8);
    expect(await forgottenAt('pnpm')).toBe(8);
    const shown = await setUp();
    await shown.look([turnOf('t4', [said('Done.')], { conversation })], 8);
    expect(await shown.forgottenAt('pnpm')).toBeUndefined();
  });

  it('counts its session once for a rule, however often it is looked at; a later break takes “kept” back', async () => {
    const { look, count } = await setUp();
    const kept = turnOf('t1', [shell('pnpm i')], {
      evidence: { ...turnOf('t1', []).evidence, reply: [shell('pnpm i')], next: { tools: [], user: 'stop' } },
    });
    expect(await look([kept])).toBe(1);
    expect(await look([kept])).toBe(0);
    expect(await count('pnpm')).toEqual({ shown: 1, applied: 1, kept: 1, toldAgain: 0 });
    const broken = turnOf('t2', [shell('npm i')], {
      evidence: { ...turnOf('t2', []).evidence, reply: [shell('npm i')], next: { tools: [], user: 'stop' } },
    });
    expect(await look([kept, broken])).toBe(1);
    expect(await look([turnOf('t3', [said('Done.')])])).toBe(0);
    expect(await count('pnpm')).toEqual({ shown: 1, applied: 1, kept: 0, toldAgain: 0 });
    expect(await count('quiet')).toEqual({ shown: 1, applied: 0, kept: 0, toldAgain: 0 });
  });

  it('that has nothing of what a check is about, failed or belongs to practice says nothing', async () => {
    const { look, count } = await setUp();
    await look([turnOf('t1', [said('Hello.')])]);
    expect(await count('pnpm')).toEqual({ shown: 1, applied: 0, kept: 0, toldAgain: 0 });
    const other = await setUp();
    const failed = turnOf('t1', [said('Hel')]);
    await other.look([{ ...failed, evidence: { ...failed.evidence, status: 'client-abort' } }]);
    expect(await other.count('pnpm')).toMatchObject({ shown: 0 });
    const practice = await setUp('attempt:1');
    await practice.look([turnOf('t1', [said('Hello.')])]);
    expect(await practice.count('pnpm')).toMatchObject({ shown: 0 });
  });
});

describe('a rule', () => {
  const corrected = (
    turn: string,
    quote: string,
    verdict: 'failure' | 'ambiguous' = 'failure',
  ): AppraisedTurn => {
    const one = turnOf(turn, [said('Run npm ci.')]);
    return {
      ...one,
      evidence: { ...one.evidence, next: { tools: [], user: quote } },
      appraisal: {
        ...one.appraisal,
        verdict,
        source: 'chat',
        correction: { quotes: [quote], isStanding: true },
      },
      material: { passages: [{ origin: 'user', text: quote }], commands: [], missing: [] },
    };
  };
  const SOON = Date.now() + 60_000;

  it('is told again when a person repeats it, once for each time that they say it', async () => {
    const { look, count } = await setUp();
    await look([corrected('t1', RULE)], SOON);
    await look([corrected('t1', RULE)], SOON);
    expect(await count('pnpm')).toMatchObject({ toldAgain: 1 });
    await look([corrected('t2', 'pnpm, never npm!')], SOON);
    expect(await count('pnpm')).toMatchObject({ toldAgain: 2 });
    expect(await count('quiet')).toMatchObject({ toldAgain: 0 });
  });

  it('is told again in the message that a conversation begins with, also where it was not shown', async () => {
    const { look, count, begin } = await setUp();
    await begin('t1', SOON);
    const { shown: _, ...one } = turnOf('t1', [said('Ok.')]);
    await look([{ ...one, evidence: { ...one.evidence, task: RULE } }], SOON);
    expect(await count('pnpm')).toMatchObject({ shown: 0, toldAgain: 1 });
  });

  it('is not told again where it was learned, by other words, or by the opposite', async () => {
    const { library, look, count } = await setUp();
    const lesson = library.lesson('pnpm');
    if (lesson === undefined) throw new Error('no lesson');
    const text = { ...lesson.text, evidence: { ...lesson.text.evidence, turns: ['t1'] } };
    await library.publish(setOf('again', [{ op: 'revise', id: 'pnpm', from: lesson.revision, text }]));
    await look([corrected('t1', RULE)], SOON);
    await look([corrected('t2', 'Never commit files of the dist folder.')], SOON);
    expect(await count('pnpm')).toMatchObject({ toldAgain: 0 });
  });
});
