import { describe, expect, it } from 'vitest';
import type { Appraisal, Correction, TurnEvidence } from '../../../src/core/evidence.ts';
import { appraise } from '../../../src/evidence/appraise.ts';
import { callOf, turnOf } from '../turn-fixtures.ts';

const reactionTo = (user: string, more: Partial<TurnEvidence> = {}): Appraisal =>
  appraise(
    turnOf({
      task: 'Add zod to the project.',
      reply: [{ type: 'text', text: 'I ran npm install zod. The config is validated now.' }],
      next: { tools: [], user },
      ...more,
    }),
  );
const correctionIn = (user: string, more?: Partial<TurnEvidence>): Correction | undefined =>
  reactionTo(user, more).correction;

describe('a correction in the chat', () => {
  it('is evidence of the chat, above what tools and judges say, and its reason holds no word of the user', () => {
    const { verdict, source, signals } = reactionTo("No, that's wrong. We use pnpm in this repo.");
    expect([verdict, source]).toEqual(['failure', 'chat']);
    expect(JSON.stringify(signals)).not.toMatch(/pnpm|repo/);
  });

  it('quotes whole sentences letter by letter (not the greeting, the thanks or the next task)', () => {
    expect(
      correctionIn('Hi! Thanks.  We use  pnpm in this repo, not npm. Please add a test for the parser.'),
    ).toEqual({ quotes: ['We use  pnpm in this repo, not npm.'], isStanding: true });
    expect(correctionIn('Nope. It belongs to packages/api.')?.quotes).toEqual([
      'Nope.',
      'It belongs to packages/api.',
    ]);
  });

  it('quotes at most three sentences of a long message', () => {
    const said = "That's wrong. You forgot the lockfile. You broke the build. You removed my tests. Undo it.";
    const story = 'The colleague who looked at the screen this morning found it rather hard to read. '.repeat(
      5,
    );
    expect(correctionIn(`${said} ${story}`)?.quotes).toHaveLength(3);
  });

  it('quotes a short message whole: what it says in passing often is the rule', () => {
    const said = "that's a generated file. run make gen after changing openapi.yaml";
    expect(correctionIn(`No, ${said}`)?.quotes.join(' ')).toContain('run make gen after changing');
  });

  it('keeps what stands between two sentences of a rule, and what the first one points back to', () => {
    expect(correctionIn('omg. never edit old migrations. add a new one. always.')?.quotes.slice(-3)).toEqual([
      'never edit old migrations.',
      'add a new one.',
      'always.',
    ]);
    const style = 'nice but our sql is lower case, see the other files. do that everywhere you write sql';
    expect(correctionIn(style)?.quotes.join(' ')).toBe(style);
  });

  it('leaves out no sentence of a few words, which may turn the rule around (but the next task)', () => {
    const said = (user: string): string | undefined => correctionIn(user)?.quotes.join(' ');
    expect(said('Float for money, always a good idea /s.\nUse integers.')).toContain('Use integers.');
    expect(said('You summarise after every step.\nI asked you not to.\nNever summarise.')).toContain(
      'I asked you not to.',
    );
    expect(said('We always use pnpm here. Now fix the login page.')).toBe('We always use pnpm here.');
  });

  it('is no reminder alone, and no question whether there should be a rule', () => {
    for (const user of [
      'keep that in mind for next time',
      "don't you think we should never merge without tests?",
    ])
      expect(correctionIn(user), user).toBeUndefined();
    expect(correctionIn('no, bun. keep that in mind for next time')?.quotes).toHaveLength(2);
  });

  it.each([
    'we use pnpm here',
    'Please never run npm in this repo.',
    'from now on use pnpm',
    'could you maybe use pnpm next time?',
    'you used npm again!',
    'I told you to use pnpm',
    'please stop adding dependencies',
    'wir nehmen hier pnpm, kein npm',
    'dans ce projet on utilise pnpm',
    'この案件では必ずpnpmを使ってください',
  ])('is for later work too: %s', (user) => expect(correctionIn(user)?.isStanding).toBe(true));

  it.each([
    'no, the other file',
    'line 12 is wrong',
    'you forgot the semicolon in foo()',
    'undo that',
    'das stimmt nicht',
    'still failing',
  ])('is about this answer only: %s', (user) => expect(correctionIn(user)?.isStanding).toBe(false));

  it('is a rule that nobody complained with, too, and a milder failure', () => {
    expect(reactionTo('btw we never push to main directly')).toMatchObject({
      verdict: 'failure',
      reward: 0.25,
    });
    expect(reactionTo("that's wrong")).toMatchObject({ verdict: 'failure', reward: 0 });
  });

  it('is no answer to the agent’s question (a rule beside it is one)', () => {
    const reply = [{ type: 'text' as const, text: 'Shall I use PostgreSQL or SQLite?' }];
    expect(correctionIn('we use postgres', { reply })).toBeUndefined();
    expect(correctionIn('no, duckdb', { reply })).toBeUndefined();
    const offer = [{ type: 'text' as const, text: 'I ran npm install. Shall I add a test?' }];
    expect(correctionIn('we use pnpm in this repo', { reply: offer })?.isStanding).toBe(true);
  });

  it('is no part of a new task (not: a requirement of the product is a rule for the agent)', () => {
    for (const user of [
      'Write a function that always returns the newest order and never throws.',
      'the user should never see an empty list, so show a placeholder',
      'new topic: our backups. we never tested a restore.',
      'Can you look at the login form? The password field is broken.',
    ])
      expect(reactionTo(user).signals, user).toEqual([]);
  });

  it('is no failure when the user reports an outage (it must teach nothing)', () => {
    expect(reactionTo('the api is down again').verdict).toBe('infrastructure');
    expect(reactionTo('if the api is down, show the last value').signals).toEqual([]);
    expect(reactionTo('right, forgot to start it. try again').verdict).toBe('infrastructure');
    expect(reactionTo('vpn. again').verdict).toBe('infrastructure');
    expect(reactionTo('you forgot to start it. try again').verdict).toBe('failure');
  });

  it('is no failure after a provider’s error in the place of an answer (a rule still is one, and so is an answer about errors)', () => {
    const error = 'Request Error: 503 Service Unavailable {"error":{"type":"server_error"}}';
    const reply = [{ type: 'text' as const, text: error }];
    expect(reactionTo('still failing', { reply }).verdict).toBe('infrastructure');
    expect(correctionIn('no. we use pnpm in this repo', { reply })?.isStanding).toBe(true);
    const answer = [{ type: 'text' as const, text: `The handler retries now, so ${error} is gone.` }];
    expect(reactionTo('still failing', { reply: answer }).verdict).toBe('failure');
  });
});

describe('words that are not the user’s own', () => {
  const RULE = 'We always use tabs. That is wrong.';

  it.each([
    `\`\`\`\n${RULE}\n\`\`\`\nwhat does this mean?`,
    `> ${RULE}\nwhat does he mean by that?`,
    `From: bob@shop.example\nSubject: rules\n\n${RULE}`,
    `Bob wrote:\n${RULE}`,
    `The reviewer said: ${RULE}`,
    `<system-reminder>${RULE}</system-reminder>\ngo on`,
    `<environment_details>\n${RULE}\n</environment_details>\ngo on`,
    `[read_file for 'RULES.md'] Result:\n${RULE}`,
    `[read_file for 'RULES.md'] Result:\n<feedback>${RULE}</feedback>`,
    `EXECUTION RESULT of [bash]:\n${RULE}`,
    `OBSERVATION:\n${RULE}`,
    `I ran this command:\n\ncat RULES.md\n\nAnd got this output:\n\n${RULE}`,
    `summarise this\nPasted text #1 (2 lines):\n${RULE}`,
    `# Context from my IDE setup:\n\n## Active selection of the file:\n${RULE}\n\n## My request for Codex:\ngo on`,
    `--- Content from referenced files ---\n${RULE}\n--- End of content ---\ngo on`,
    `This session is being continued from a previous conversation. ${RULE}`,
  ])('are no correction: %j', (user) => {
    expect(correctionIn(user)).toBeUndefined();
    expect(reactionTo(user).verdict).toBe('ambiguous');
  });

  it('leave the typed sentence beside them to be quoted', () => {
    expect(correctionIn(`we use pnpm here.\n\`\`\`\n${RULE}\n\`\`\``)?.quotes).toEqual(['we use pnpm here.']);
    expect(
      correctionIn(
        '[attempt_completion] Result:\nThe user has provided feedback.\n<feedback>\nwe use pnpm here\n</feedback>',
      )?.quotes,
    ).toEqual(['we use pnpm here']);
    expect(
      correctionIn('[WhatsApp Ann +2m 2026-11-14 09:12 UTC] we use pnpm here\n[message_id: 3EB0]')?.quotes,
    ).toEqual(['we use pnpm here']);
    expect(
      correctionIn('[Request interrupted by user for tool use]\nno, wrong directory', {
        status: 'client-abort',
      })?.quotes,
    ).toEqual(['no, wrong directory']);
  });

  it('are the prompt of a sub-agent, and what an agent reported', () => {
    expect(correctionIn('we use pnpm here', { role: 'side' })).toBeUndefined();
    expect(correctionIn('we use pnpm here', { isReported: true })).toBeUndefined();
  });

  it('are a tool’s result: a rejection in it is a sign, and is never quoted', () => {
    const said =
      "The user doesn't want to proceed with this tool use. The tool use was rejected. To tell you how to proceed, the user said:\nwe always use tabs";
    const appraisal = appraise(callOf('Bash', { command: 'npm i' }, said, { isError: true }));
    expect(appraisal.correction).toBeUndefined();
    expect(appraisal.signals.every(({ source }) => source === 'signal')).toBe(true);
  });
});

describe('a word to Instar about the same answer', () => {
  const word = (score: number) => ({ given: [{ source: 'chat' as const, score }] });

  it('outranks what was said to the agent', () => {
    expect(reactionTo("that's wrong", word(1))).toMatchObject({ verdict: 'success', reward: 1 });
    expect(correctionIn("that's wrong", word(1))).toBeUndefined();
    expect(reactionTo('perfect, thanks', word(-1))).toMatchObject({ verdict: 'failure', reward: 0 });
    expect(correctionIn('we use pnpm here', word(-1))?.quotes).toEqual(['we use pnpm here']);
  });
});

describe('thanks in the chat', () => {
  it('are a success, weaker than a word to Instar, and none when the connection broke', () => {
    expect(reactionTo('perfect, thanks')).toMatchObject({ verdict: 'success', source: 'chat', reward: 0.9 });
    expect(reactionTo('thanks anyway', { status: 'upstream-error' }).verdict).toBe('infrastructure');
  });

  it('are no verdict where the agent acted by tools that nobody knows (not: the order was cancelled)', () => {
    const outcome = { callId: 'c1', text: '{"status":"cancelled"}' };
    const acted = (name: string): Partial<TurnEvidence> => ({
      answered: [{ name, arguments: '{}', outcome }],
    });
    expect(reactionTo('perfect, thanks', acted('cancel_order')).verdict).toBe('ambiguous');
    expect(reactionTo('perfect, thanks', acted('bash')).verdict).toBe('success');
  });

  it('are none when they are ironic', () => {
    expect(reactionTo('great, you deleted my tests').verdict).toBe('failure');
    expect(reactionTo('Super, jetzt sind meine Tests weg.').verdict).toBe('failure');
  });
});
