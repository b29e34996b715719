import { describe, expect, it } from 'vitest';
import type { Fact, StoredFact } from '../../src/core/fact.ts';
import { createPendingSessions } from '../../src/learn/follow-record.ts';
import { end, start } from '../record/store/facts.ts';

let seq = 0;
const stored = (fact: Fact, at = 0): StoredFact => ({ seq: ++seq, at, fact });
const reward = (turn: string): Fact => ({ type: 'reward-given', turn, source: 'person', score: -1 });
/** Turn ids begin with their session. */
const open = () => createPendingSessions(async (turn) => turn.split('/')[0]);

describe('pending sessions', () => {
  it('keep their ended turns until they are done, and return with the next turn', async () => {
    const waiting = open();
    for (const turn of ['a/1', 'a/2', 'b/1']) await waiting.note(stored(end(turn)));
    expect([...waiting.pending].map(([session, turns]) => [session, [...(turns ?? [])]])).toEqual([
      ['a', ['a/1', 'a/2']],
      ['b', ['b/1']],
    ]);
    waiting.done('a');
    expect([...waiting.pending.keys()]).toEqual(['b']);
    await waiting.note(stored(end('a/3')));
    expect([...(waiting.pending.get('a') ?? [])]).toEqual(['a/3']);
  });

  it('are dropped under load, the oldest first (not those with a reward)', async () => {
    const waiting = open();
    await waiting.note(stored(end('judged/1')));
    await waiting.note(stored(reward('judged/1')));
    for (let nth = 0; nth < 6000; nth++) await waiting.note(stored(end(`s${nth}/1`)));
    expect(waiting.pending.has('judged')).toBe(true);
    expect([...waiting.spoken]).toEqual(['judged']);
    expect(waiting.pending.has('s5999')).toBe(true);
    expect(waiting.pending.has('s0')).toBe(false);
    expect(waiting.pending.size).toBe(5000);
  });

  it('are reported as idle once', async () => {
    const waiting = open();
    await waiting.note(stored(start('t1', 'old'), 100));
    await waiting.note(stored(start('t2', 'new'), 900));
    expect(waiting.takeIdle(500)).toEqual(['old']);
    expect(waiting.takeIdle(500)).toEqual([]);
    expect(waiting.takeIdle(1000)).toEqual(['new']);
  });

  it('end an episode after a pause (not: at its end, before a person could rate it)', async () => {
    const waiting = open();
    const ended: Fact = {
      type: 'event-reported',
      kind: 'episode_end',
      session: 'ep',
      data: { outcome: 'success' },
    };
    await waiting.note(stored(ended, 100));
    expect([waiting.pending.has('ep'), [...waiting.ended]]).toEqual([true, []]);
    expect([waiting.takeIdle(100), waiting.takeIdle(101), waiting.takeIdle(101)]).toEqual([[], ['ep'], []]);
  });
});
