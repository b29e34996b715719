import { describe, expect, it } from 'vitest';
import type { RuleCheck } from '../../src/core/check.ts';
import type { TurnEvidence } from '../../src/core/evidence.ts';
import type { LessonText } from '../../src/core/lesson.ts';
import type { AppraisedTurn } from '../../src/evidence/evidence-reader.ts';
import { endSession } from '../../src/learn/end-session.ts';
import { createLessonEffects } from '../../src/lessons/effect/lesson-effects.ts';
import { toRecords } from '../../src/record/records.ts';
import { createMemoryStore } from '../../src/record/store/memory-store.ts';
import { setOf } from '../lessons/library/samples.ts';
import { start } from '../record/store/facts.ts';
import { lessonText } from '../support/lesson-text.ts';
import { libraryWith } from './evolver/samples.ts';

const NO_NPM: RuleCheck = {
  looksAt: 'commands',
  appliesWhen: [{ is: 'pattern', pattern: '\\b(?:p?npm)\\b' }],
  holdsWhen: [{ is: 'pattern', pattern: '\\bnpm\\b', max: 0 }],
  standing: 'accepted',
  by: 'person',
  proof: 'a test confirmed it',
};

const shell = (command: string) =>
  ({ type: 'tool-call', id: command, name: 'Bash', arguments: JSON.stringify({ command }) }) as const;

function turnOf(turn: string, reply: TurnEvidence['reply'], shown: readonly string[]): AppraisedTurn {
  const evidence: TurnEvidence = {
    turn,
    session: 's',
    agent: 'coder',
    role: 'main',
    status: 'complete',
    task: turn.endsWith('b') ? 'now the docs' : 'install it',
    tools: [],
    reply,
    next: { tools: [], user: 'Thank you, and now the docs.' },
    earlier: [],
    given: [],
    attempts: [],
  };
  const conversation = {
    messages: [{ role: 'assistant' as const, content: evidence.reply }],
    from: 0,
    reply: 0,
  };
  // A person is content with all that happens here: what the check says differs.
  const appraisal = {
    turn,
    verdict: 'success' as const,
    reward: 1,
    source: 'person' as const,
    signals: [],
    digests: [],
  };
  return { evidence, appraisal, generation: 1, shown, conversation };
}

const inferred = (over: Partial<LessonText> = {}): LessonText =>
  lessonText({
    name: 'pnpm',
    description: 'When something is installed.',
    content: 'pnpm works here.',
    note: { source: 'experience', halfLifeDays: 30 },
    ...over,
  });

/** A lesson that practice wrote, with a check; `end` ends a session in which the agent ran a command. */
async function setUp(text = inferred()) {
  const library = await libraryWith();
  await library.publish(
    setOf('made', [{ op: 'add', id: 'pnpm', kind: 'skill', state: 'trial', text, check: NO_NPM }]),
  );
  const records = toRecords(createMemoryStore(), () => 0);
  const effects = createLessonEffects();
  let seq = 0;
  const end = async (session: string, command: string, isShown: boolean) => {
    const turn = `t_${session}`;
    const begun = { ...start(turn, session), lessons: isShown ? ['pnpm'] : [] };
    const recalled = {
      type: 'lessons-recalled',
      why: 'new',
      session,
      turn,
      thread: '',
      generation: 1,
      lessons: isShown ? ['pnpm'] : [],
      heldOut: isShown ? [] : ['pnpm'],
      considered: [],
      engine: 'words',
      domain: { name: 'general', reason: 'default' },
    } as const;
    await records.append([
      { at: 1, fact: begun },
      { at: 1, fact: recalled },
    ]);
    const given = isShown ? ['pnpm'] : [];
    const answer = { type: 'text', text: 'It is installed.' } as const;
    const turns = [turnOf(turn, [shell(command), answer], given), turnOf(`${turn}b`, [answer], given)];
    const parts = { records, evidence: { turns: async () => turns }, lessonOf: library.lesson };
    const [scored] = await endSession(session, parts, 5);
    if (scored === undefined) throw new Error('the session was not scored');
    effects.add({ seq: ++seq, at: 5, fact: scored.fact });
    return scored.fact;
  };
  return { end, effects };
}

describe('the outcome of a session for a lesson with a check of its own', () => {
  it('is what the check says, with the lesson and without it (not: that the person was content)', async () => {
    const { end, effects } = await setUp();
    await end('s1', 'pnpm install', true);
    await end('s2', 'npm install', false);
    const { with: shown, without, scored } = effects.sessionsOf('pnpm');
    expect(shown).toMatchObject({ success: 1, failure: 0, praise: 0 });
    expect(without).toMatchObject({ success: 0, failure: 1, praise: 0 });
    expect(scored).toMatchObject({ praise: 2 });
  });

  it('is none where the answer has nothing that the check is about', async () => {
    const { end, effects } = await setUp();
    await end('s1', 'ls', true);
    expect(effects.sessionsOf('pnpm').with).toMatchObject({ success: 0, failure: 0, praise: 0 });
  });

  it('is not asked of a rule that a person told: no measurement decides about it', async () => {
    const { end } = await setUp(
      inferred({
        ...lessonText({
          name: 'pnpm',
          description: 'Use pnpm.',
          content: 'Use pnpm.',
          note: { source: 'told' },
        }),
      }),
    );
    expect(await end('s1', 'npm install', true)).not.toHaveProperty('checked');
  });
});
