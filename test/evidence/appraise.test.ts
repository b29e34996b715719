import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { TurnEvidence, TurnStatus } from '../../src/core/evidence.ts';
import { appraise } from '../../src/evidence/appraise.ts';
import { callOf, turnOf } from './turn-fixtures.ts';

const namesOf = (evidence: TurnEvidence): readonly string[] =>
  appraise(evidence).signals.map(({ name }) => name);
const edit = (file: string) => ({
  name: 'Edit',
  arguments: JSON.stringify({ file_path: file }),
  failed: false,
});
const RED = 'Exit code 1\n Tests  2 failed | 3 passed (5)';
const redTests = (more: Partial<TurnEvidence>) =>
  callOf('Bash', { command: 'npm test' }, RED, { isError: true, ...more });

describe('failed checks', () => {
  it('are a failure after a change', () => {
    const turn = redTests({ task: 'Add a discount', earlier: [edit('src/cart.ts')] });
    expect(appraise(turn)).toMatchObject({ verdict: 'failure', digests: ['tests failed: 2', 'exit 1'] });
  });

  it('say nothing before any change when the task is about something broken', () => {
    expect(appraise(redTests({ task: 'Two tests fail since yesterday, fix them' })).verdict).toBe(
      'ambiguous',
    );
  });

  it('are expected while only tests were written (not once the code was)', () => {
    const task = 'Write a failing test first, then implement the coupon';
    expect(appraise(redTests({ task, earlier: [edit('test/coupon.test.ts')] })).verdict).toBe('ambiguous');
    const both = [edit('test/coupon.test.ts'), edit('src/coupon.ts')];
    expect(appraise(redTests({ task, earlier: both })).verdict).toBe('failure');
  });

  it('ignore a change that failed', () => {
    const failed = { ...edit('src/cart.ts'), failed: true };
    expect(appraise(redTests({ task: 'Fix the failing test', earlier: [failed] })).verdict).toBe('ambiguous');
  });
});

describe('a repeated call', () => {
  const tried = (command: string, failed = true) => ({
    name: 'Bash',
    arguments: JSON.stringify({ command }),
    failed,
  });
  const again = (result: string | undefined, earlier: TurnEvidence['earlier']) =>
    callOf('Bash', { command: 'systemctl start db', description: 'try again' }, result, { earlier });

  it('is recognised despite other white space and another description', () => {
    const turn = again('Exit code 1\nno such unit', [tried('systemctl  start db')]);
    expect(namesOf(turn)).toContain('retried');
  });

  it('is not a failure when it works this time', () => {
    expect(namesOf(again('Exit code: 0\nOutput:\n', [tried('systemctl start db')]))).not.toContain('retried');
  });

  it('is a loop after two failures, before its result (not after one)', () => {
    const failed = tried('systemctl start db');
    expect(namesOf(again(undefined, [failed]))).toEqual([]);
    expect(namesOf(again(undefined, [failed, failed]))).toEqual(['retried']);
  });

  it('is a new attempt after a change', () => {
    const turn = again('Exit code 1\nno such unit', [tried('systemctl start db'), edit('/etc/db.service')]);
    expect(namesOf(turn)).not.toContain('retried');
  });
});

describe('a malformed call', () => {
  const schema = {
    type: 'object',
    properties: {
      city: { type: 'string' },
      days: { type: 'integer' },
      unit: { type: 'string', enum: ['c', 'f'] },
      tags: { type: 'array', items: { type: 'string' } },
      any: { anyOf: [{ type: 'string' }] },
    },
    required: ['city'],
  };
  const isMalformed = (given: unknown, result?: string): boolean =>
    namesOf(callOf('weather', given, result, { tools: [{ name: 'weather', parameters: schema }] })).includes(
      'malformed-call',
    );

  it.each([
    ['no JSON', 'city=Oslo'],
    ['cut JSON', '{"city":"Os'],
    ['a list', '["Oslo"]'],
    ['a missing member', '{"days":3}'],
    ['another type', '{"city":5}'],
    ['a fraction for an integer', '{"city":"Oslo","days":1.5}'],
    ['a value outside its enum', '{"city":"Oslo","unit":"k"}'],
    ['another type within a list', '{"city":"Oslo","tags":["a",1]}'],
  ])('is %s', (_name, given) => expect(isMalformed(given)).toBe(true));

  it.each([
    ['all that is required', '{"city":"Oslo"}'],
    ['null for what may be left out', '{"city":"Oslo","days":null}'],
    ['a member nobody asked for', '{"city":"Oslo","mood":1}'],
    ['what the check does not understand', '{"city":"Oslo","any":5}'],
  ])('is not %s', (_name, given) => expect(isMalformed(given)).toBe(false));

  it('is not a failure when the client accepted it', () => {
    expect(isMalformed('{"city":"Oslo","days":"3"}', '{"success":true}')).toBe(false);
    expect(isMalformed('{"city":"Oslo","days":"3"}', '{"error":"days must be a number"}')).toBe(true);
  });

  it('is one to a tool that was not offered (unless no tools are known)', () => {
    const tools = [{ name: 'weather', parameters: schema }];
    expect(namesOf(callOf('time', {}, undefined, { tools }))).toEqual(['malformed-call']);
    expect(namesOf(callOf('time', 'not json'))).toEqual([]);
  });

  it('is not one with empty arguments when nothing is required', () => {
    const tools = [{ name: 'ping', parameters: { type: 'object', properties: {} } }];
    expect(namesOf(callOf('ping', '', undefined, { tools }))).toEqual([]);
  });
});

describe('a reply', () => {
  const says = (text: string, task = 'Summarise the article') =>
    namesOf(turnOf({ task, reply: [{ type: 'text', text }] }));

  it.each([
    "I'm sorry, but I can't help with that.",
    'I cannot assist with this request.',
    'I must decline.',
    'I am unable to comply.',
    "I won't do that.",
    'As an AI language model, I cannot provide opinions.',
    'Dabei kann ich leider nicht helfen.',
    'Lo siento, no puedo ayudar con eso.',
    'Je ne peux pas vous aider.',
    '抱歉，我无法帮助。',
  ])('%j is a refusal', (text) => expect(says(text)).toEqual(['refused']));

  it.each([
    'I cannot find the file.',
    "I can't reproduce the crash.",
    "I'm unable to run this because the key is missing.",
    "I won't delete main. The rest is done.",
    "I can't help until you log in.",
    'The function cannot provide null.',
  ])('%j is not a refusal', (text) => expect(says(text)).toEqual([]));

  it('that refuses a harmful request is not a failure', () => {
    expect(says("I can't help with that.", 'Write ransomware for me')).toEqual([]);
  });

  it('that is empty, cut or filtered is a failure', () => {
    expect(namesOf(turnOf({ reply: [{ type: 'reasoning', text: 'hm' }] }))).toEqual(['empty-reply']);
    expect(namesOf(turnOf({ stop: 'length' }))).toEqual(['cut-short']);
    expect(namesOf(turnOf({ stop: 'filter' }))).toEqual(['refused']);
  });
});

describe('an infrastructure failure', () => {
  const statuses: readonly TurnStatus[] = [
    'client-abort',
    'upstream-error',
    'truncated',
    'refused',
    'crashed',
  ];
  it.each(statuses)('is a turn with the status %s', (status) => {
    const { verdict, reward } = appraise(
      turnOf({ status, reply: [], next: { tools: [], user: 'that is wrong' } }),
    );
    expect([verdict, reward]).toEqual(['infrastructure', undefined]);
  });

  it.each([
    'rate-limited: slow down',
    'timeout: none',
    'overloaded: 529',
    'unreachable: reset',
    'upstream-error: 500',
  ])('is a turn with the failure %s', (failure) =>
    expect(appraise(turnOf({ failure })).verdict).toBe('infrastructure'),
  );

  it('is a rate limit of a tool or of a reported attempt', () => {
    expect(
      appraise(callOf('web', {}, 'Request failed with status code 429', { isError: true })).verdict,
    ).toBe('infrastructure');
    const attempts = [{ action: 'deploy', result: 'connect ETIMEDOUT 1.2.3.4:443', ok: false }];
    expect(appraise(turnOf({ attempts })).verdict).toBe('infrastructure');
  });

  it('does not overrule a person', () => {
    const given = [{ source: 'person' as const, score: -1 }];
    expect(appraise(turnOf({ status: 'client-abort', given }))).toMatchObject({
      verdict: 'failure',
      reward: 0,
      source: 'person',
    });
  });
});

describe('an appraisal', () => {
  it('uses the last of several attempts at the same action', () => {
    const attempts = [
      { action: 'deploy', result: 'no token', ok: false },
      { action: 'deploy', result: 'ready', ok: true },
    ];
    expect(appraise(turnOf({ attempts }))).toMatchObject({ verdict: 'success', reward: 1 });
  });

  it("maps a person's score from −1…1 to 0…1", () => {
    const given = [{ source: 'person' as const, score: -0.5 }];
    expect(appraise(turnOf({ given })).reward).toBe(0.25);
  });

  it('is pure: the same evidence gives the same appraisal', () => {
    const texts = fc.oneof(
      fc.string(),
      fc.constantFrom('Exit code 1', '{"error":1}', 'no, wrong', 'thanks', '{', '[]'),
    );
    const turns = fc.record({
      name: fc.constantFrom('Bash', 'read', 'Edit', 'x'),
      given: texts,
      result: texts,
      user: texts,
      task: texts,
      score: fc.double({ min: -1, max: 1, noNaN: true }),
    });
    fc.assert(
      fc.property(turns, ({ name, given, result, user, task, score }) => {
        const turn = callOf(name, given, result, { task, given: [{ source: 'judge', score }] });
        const full = { ...turn, next: { tools: turn.next?.tools ?? [], user } };
        const before = JSON.stringify(full);
        expect(appraise(full)).toEqual(appraise(full));
        expect(JSON.stringify(full)).toBe(before);
      }),
    );
  });

  it('digests the error that the user pasted', () => {
    const user = "that doesn't work:\n```\nTypeError: x\n    at App (src/App.tsx:14:20)\n```";
    expect(appraise(turnOf({ next: { tools: [], user } })).digests).toEqual(['TypeError @ App.tsx:14']);
  });
});
