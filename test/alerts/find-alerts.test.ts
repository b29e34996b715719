import { describe, expect, it } from 'vitest';
import {
  findBudgetAlerts,
  findRuleAlerts,
  findWaitingAlerts,
  joinDecisions,
} from '../../src/alerts/find-alerts.ts';
import { signAlert } from '../../src/alerts/send-alert.ts';
import type { RuleResult } from '../../src/core/adherence-fact.ts';

const app = { name: 'key app', whose: 'The key "app"', most: 100 };

describe('budgets', () => {
  it('are told from 80 % on, with what is used, and a raised limit may be told again', () => {
    const of = 'requests' as const;
    expect(findBudgetAlerts([{ ...app, of, used: 79 }], 'd')).toEqual([]);
    const [at80] = findBudgetAlerts([{ ...app, of, used: 80 }], 'd');
    expect(at80?.text).toBe('The key "app" has used 80 requests of 100 requests a day (80 %).');
    const [raised] = findBudgetAlerts([{ ...app, of, used: 180, most: 200 }], 'd');
    expect(raised?.cause).not.toBe(at80?.cause);
    expect(findBudgetAlerts([{ ...app, of: 'usd', used: 4.5, most: 5 }], 'd')[0]?.text).toBe(
      'The key "app" has used $4.50 of $5.00 a day (90 %).',
    );
  });

  it('of nothing are not nearly used', () => {
    expect(findBudgetAlerts([{ ...app, of: 'usd', used: 0, most: 0 }], 'd')).toEqual([]);
  });
});

describe('rules', () => {
  const fact = (results: readonly RuleResult[]) => ({
    seq: 1,
    at: 0,
    fact: { type: 'rules-observed' as const, session: 's', turn: 't', results },
  });
  const texts = (...results: RuleResult[]) =>
    findRuleAlerts(
      [fact(results)],
      () => 'd',
      () => undefined,
    ).map(({ text }) => text);
  const rule = { lesson: 'l', revision: 1 };

  it('are told when they were broken or had to be said again, not while a command or a model is still asked', () => {
    expect(texts({ ...rule, outcome: 'broken' })).toEqual([
      'The rule l was not kept by an answer. See: instar lessons show l.',
    ]);
    expect(texts({ ...rule, outcome: 'told-again' })).toEqual([
      'The rule l had to be said again. See: instar lessons show l.',
    ]);
    expect(texts({ ...rule, outcome: 'broken', isWaiting: true }, { ...rule, outcome: 'kept' })).toEqual([]);
  });
});

describe('decisions', () => {
  const row = (lesson: string) => ({
    code: 'needs-approval',
    lesson,
    what: `“Say ${lesson}”`,
    why: 'needs your decision',
  });

  it('that begin to wait together are one alert, with titles only where the owner asks for them', () => {
    const told = (hasTitles: boolean) => joinDecisions(findWaitingAlerts([row('a'), row('b')], hasTitles));
    expect(told(false)).toMatchObject([
      { text: '2 lessons wait for your decision. See: instar lessons review.', lessons: ['a', 'b'] },
    ]);
    expect(told(true)[0]?.text).toBe(
      '2 lessons wait for your decision: “Say a”, “Say b”. See: instar lessons review.',
    );
  });

  it('are not what else waits', () => {
    expect(findWaitingAlerts([{ code: 'session-open', what: 'a session', why: 'goes on' }], true)).toEqual(
      [],
    );
  });
});

it('signs id, time and body as Standard Webhooks does (the example of its specification)', () => {
  const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
  const headers = signAlert(
    'msg_p5jXN8AQM9LWM0D4loKWxJek',
    '{"test": 2432232314}',
    1_614_265_330_000,
    secret,
  );
  expect(headers).toEqual({
    'webhook-id': 'msg_p5jXN8AQM9LWM0D4loKWxJek',
    'webhook-timestamp': '1614265330',
    'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
  });
});
