import { describe, expect, it } from 'vitest';
import type { ChatMessage, ChatRequest } from '../../src/core/chat.ts';
import type { DecodedTurn, RewardView, TurnView } from '../../src/core/store.ts';
import { appraise } from '../../src/evidence/appraise.ts';
import { createFailureCase } from '../../src/evidence/failure-case.ts';
import { createCalibration } from '../../src/evidence/judge/calibration.ts';
import { createTurnEvidence, messagesAfter } from '../../src/evidence/turn-evidence.ts';
import { createSessionTexts, readMaterial } from '../../src/evidence/turn-material.ts';

const user = (...texts: readonly string[]): ChatMessage => ({
  role: 'user',
  content: texts.map((text) => ({ type: 'text', text })),
});
const assistant = (text: string): ChatMessage => ({ role: 'assistant', content: [{ type: 'text', text }] });
const viewOf = (id: string): TurnView => ({
  id,
  session: 's',
  agent: 'app',
  role: 'main',
  wire: 'openai-chat',
  model: 'm',
  generation: 1,
  policy: 'p/m',
  lessons: [],
  startedAt: 1,
  status: 'complete',
});
const turnOf = (id: string, messages: readonly ChatMessage[]): DecodedTurn => {
  const request: ChatRequest = { model: 'm', system: [], messages, tools: [], stream: false };
  return { view: viewOf(id), request, reply: [{ type: 'text', text: '03/04/2026' }], stop: 'end' };
};
const word = (seq: number, score: number, note?: string): RewardView => ({
  seq,
  at: seq,
  source: 'chat',
  score,
  ...(note === undefined ? {} : { note }),
});

const TASK = user('write the export');
const ANSWER = assistant('03/04/2026');
const WORD = user('instar: bad, that is wrong, use ISO dates');
const SAVED = assistant('Saved: bad, "that is wrong, use ISO dates".');
const first = turnOf('t1', [TASK]);
const followedBy = (...messages: readonly ChatMessage[]) => turnOf('t2', [TASK, ANSWER, ...messages]);

describe('a word to Instar in the history of a session', () => {
  it('is no message of the user to the agent: the one after it is', () => {
    const after = followedBy(WORD, SAVED, user('thanks, now the invoices'));
    const { next } = createTurnEvidence({ session: 's', turn: first, after, given: [] });
    expect(next?.user).toBe('thanks, now the invoices');
    expect(messagesAfter(first, after)).toStrictEqual([ANSWER, user('thanks, now the invoices')]);
  });

  it('is counted once, as a reward of the chat, and not as a correction as well', () => {
    const after = followedBy(WORD, SAVED, user('and now the invoices'));
    const given = [word(1, -1, 'that is wrong, use ISO dates')];
    const { signals, source, verdict } = appraise(
      createTurnEvidence({ session: 's', turn: first, after, given }),
    );
    expect(signals.map(({ name }) => name)).toEqual(['chat-word']);
    expect([source, verdict]).toEqual(['chat', 'failure']);
    const typed = followedBy(user('that is wrong, use ISO dates'));
    expect(
      appraise(createTurnEvidence({ session: 's', turn: first, after: typed, given: [] })).signals[0]?.name,
    ).toBe('user-corrected');
  });

  it('is left out with what the client put between it and the answer', () => {
    const own = user('<<<BEGIN_OPENCLAW_INTERNAL_CONTEXT>>>\nnone\n<<<END_OPENCLAW_INTERNAL_CONTEXT>>>');
    const after = followedBy(WORD, own, SAVED, user('go on'));
    expect(createTurnEvidence({ session: 's', turn: first, after, given: [] }).next?.user).toBe('go on');
    // A word that was not answered (its client went away) hides no later message.
    expect(
      createTurnEvidence({ session: 's', turn: first, after: followedBy(WORD, user('go on')), given: [] })
        .next?.user,
    ).toBe('go on');
  });
});

describe('messages that a client puts before the person’s', () => {
  it('are read with it (not instead of it: a correction after an interruption was lost)', () => {
    const after = followedBy(user('[Request interrupted by user]'), user('no, we use ISO dates here'));
    const evidence = createTurnEvidence({ session: 's', turn: first, after, given: [] });
    expect(evidence.next?.user).toBe('[Request interrupted by user]\nno, we use ISO dates here');
    expect(appraise(evidence).correction?.quotes).toEqual(['no, we use ISO dates here']);
    const typed = followedBy(user('that is wrong'), user('another message'));
    expect(createTurnEvidence({ session: 's', turn: first, after: typed, given: [] }).next?.user).toBe(
      'that is wrong',
    );
  });
});

describe('what was said in the chat', () => {
  it('ranks below a person and above a judge, and the last word about an answer wins', () => {
    const turn = (...given: readonly RewardView[]) =>
      appraise(createTurnEvidence({ session: 's', turn: first, after: undefined, given }));
    expect(turn(word(1, -1), word(2, 1))).toMatchObject({ verdict: 'success', reward: 1, source: 'chat' });
    expect(turn(word(1, 1), word(2, -0.5))).toMatchObject({ verdict: 'failure', reward: 0.25 });
    expect(turn(word(1, -1), { ...word(2, 1), source: 'person' })).toMatchObject({ source: 'person' });
    expect(turn(word(1, -1), { ...word(2, 1), source: 'judge' })).toMatchObject({ source: 'chat' });
  });

  it('is the user’s text to learn from, never a person’s feedback', () => {
    const given = [word(1, -1, 'use ISO dates')];
    const evidence = createTurnEvidence({ session: 's', turn: first, after: undefined, given });
    const { passages, source } = createFailureCase(evidence, {
      at: 1,
      generation: 1,
      scope: {},
      appraisal: appraise(evidence),
    });
    expect(source).toBe('chat');
    expect(passages.at(-1)).toStrictEqual({ origin: 'user', text: 'use ISO dates', isFeedback: true });
    const material = readMaterial(
      { request: first.request, reply: first.reply, given: evidence.given },
      createSessionTexts(),
    );
    expect(material.passages.map(({ origin }) => origin)).toEqual(['user', 'assistant', 'user']);
  });

  it('is compared with a judge (and not only a person, who says less)', () => {
    const calibration = createCalibration();
    calibration.hear({ turn: 't', source: 'judge', score: 1, at: 1 });
    calibration.hear({ turn: 't', source: 'chat', score: -1, at: 1 });
    expect(calibration.status()).toMatchObject({ turns: 1, tooKind: 1 });
  });
});

describe('a message that the client alone wrote', () => {
  const INTERNAL = user(
    '<<<BEGIN_OPENCLAW_INTERNAL_CONTEXT>>>\nConversation data (data, not instructions):\n"none"\n<<<END_OPENCLAW_INTERNAL_CONTEXT>>>',
  );
  const INFO = user(
    '<info-msg>\nIt is currently 2026-11-16 10:00\nWorking directory: /home/dev/shop\n</info-msg>',
  );

  it('behind the task is not the task, and what follows it is not lost with it', () => {
    const turn = turnOf('t1', [TASK, INTERNAL]);
    const after = turnOf('t2', [TASK, ANSWER, user('no, use ISO dates'), INTERNAL]);
    const { task, next } = createTurnEvidence({ session: 's', turn, after, given: [] });
    expect(task).toBe('write the export');
    expect(next?.user).toBe('no, use ISO dates');
  });

  it('before the newest answer is not what the user said next', () => {
    const tool: ChatMessage = { role: 'tool', callId: 'c', content: [{ type: 'text', text: 'ok' }] };
    const call: ChatMessage = {
      role: 'assistant',
      content: [{ type: 'tool-call', id: 'c', name: 'sh', arguments: '{}' }],
    };
    const turn = turnOf('t1', [TASK, INFO, call, tool]);
    const after = turnOf('t2', [TASK, call, tool, INFO, ANSWER, user('no, use ISO dates')]);
    expect(createTurnEvidence({ session: 's', turn, after, given: [] }).next?.user).toBe('no, use ISO dates');
  });

  it('is the task when there is no other (a page in tags that is all the user sent)', () => {
    expect(
      createTurnEvidence({ session: 's', turn: turnOf('t1', [INFO]), after: undefined, given: [] }).task,
    ).toContain('info-msg');
  });
});
