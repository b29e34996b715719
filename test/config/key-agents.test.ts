import { describe, expect, it } from 'vitest';
import { createCallerKey, firstKey, readCallerKeys } from '../../src/config/caller-keys.ts';
import { openHome } from '../../src/config/home.ts';
import { readOrCreateKey } from '../../src/config/key.ts';
import { openKeyAgents } from '../../src/config/key-agents.ts';
import { createManualClock } from '../../src/core/clock.ts';
import { scratch } from '../record/store/scratch.ts';

const DAY_MS = 24 * 60 * 60 * 1000;
const open = () => {
  const home = openHome(scratch());
  readOrCreateKey(home, {});
  const clock = createManualClock(1_000_000);
  const start = () => openKeyAgents({ home, env: {}, clock, log: { warn: () => undefined } });
  const make = (name: string, more: object = {}) =>
    createCallerKey(home, { name, mayRate: false, at: 0, ...more }).entry.id;
  return { home, clock, start, make };
};

describe('the agents that a key speaks for', () => {
  it('are those that it names in its first day, at most eight; what it names later is recorded under its own', () => {
    const { clock, start, make } = open();
    const key = make('app');
    const agents = start();
    const names = Array.from({ length: 8 }, (_, nth) => `agent-${nth}`);
    for (const name of names) expect(agents.agentOf(key, name, false)).toBe(name);
    expect(agents.agentOf(key, 'ninth', false)).toBe('agent-0');
    clock.advance(DAY_MS);
    expect(agents.agentOf(key, 'agent-7', false)).toBe('agent-7');
    expect(agents.agentOf(make('late'), 'any', false)).toBe('any');
  });

  it('stay bound after a restart and for a renewed key, and a new day adds none', () => {
    const { home, clock, start, make } = open();
    const first = firstKey(home, {})?.id ?? '';
    const key = make('app');
    const before = start();
    before.agentOf(key, 'support', false);
    before.agentOf(first, 'clerk', false);
    before.flush();
    clock.advance(2 * DAY_MS);
    const after = start();
    expect(after.agentOf(key, 'builder', false)).toBe('support');
    expect(after.agentOf(first, 'builder', false)).toBe('clerk');
    const renewed = make('app');
    expect(start().agentOf(renewed, 'builder', false)).toBe('support');
    expect(readCallerKeys(home).at(-1)?.used?.agents).toEqual(['support']);
  });

  it('are the owner’s word where the owner has named them', () => {
    const { start, make } = open();
    const [one, any] = [make('one', { agents: ['support'] }), make('any', { agents: ['*'] })];
    const agents = start();
    expect(agents.agentOf(one, 'builder', false)).toBe('support');
    expect(agents.ownAgent(one)).toBe('support');
    expect(agents.agentOf(any, 'builder', false)).toBe('builder');
    expect([agents.speaksFor(one, 'support'), agents.speaksFor(one, 'builder')]).toEqual([true, false]);
  });

  it('are no agents of another client of the same person, also as a sub-agent', () => {
    const { start, make } = open();
    const codex = make('codex', { isOwn: true, agents: ['codex'] });
    make('claude-code', { isOwn: true, agents: ['claude-code'] });
    const agents = start();
    expect(agents.agentOf(codex, 'claude-code', true)).toBe('codex');
    expect(agents.agentOf(codex, 'explorer', true)).toBe('explorer');
    expect(agents.agentOf(codex, 'explorer', false)).toBe('codex');
  });
});
