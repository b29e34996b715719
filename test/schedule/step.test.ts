import { describe, expect, it } from 'vitest';
import type { Presence } from '../../src/core/schedule.ts';
import { createDayBudget, localDay } from '../../src/cost/day-budget.ts';
import {
  defaultScheduleRules,
  initialState,
  type JobCandidate,
  type ScheduleEvent,
  type ScheduleState,
} from '../../src/schedule/state.ts';
import { paceOf, stepSchedule } from '../../src/schedule/step.ts';

const HOUR = 3_600_000;
const START = Date.UTC(2026, 10, 14, 1);
const sees = (source: string, state: Presence['state'], until?: number): Presence => ({
  source,
  state,
  why: '',
  ...(until === undefined ? {} : { until }),
});
const practice: JobCandidate = { name: 'practice', priority: 1, needsWindow: true, estimateMs: HOUR };
const training: JobCandidate = { ...practice, name: 'training', priority: 2 };

/** Steps through events that come so many milliseconds after one another, on both clocks unless moves. */
function drive() {
  let state: ScheduleState = initialState;
  let wall = START;
  let mono = 0;
  const moves: string[] = [];
  const started: string[] = [];
  const send = (event: object, ms = 10_000, jump = 0): void => {
    mono += ms;
    wall += ms + jump;
    const stepped = stepSchedule(
      state,
      { ...event, at: { wall, mono } } as ScheduleEvent,
      defaultScheduleRules,
    );
    state = stepped.state;
    for (const effect of stepped.effects) {
      if (effect.type === 'tell') moves.push(`${effect.from} > ${effect.to}: ${effect.reasons.join(', ')}`);
      if (effect.type === 'start') started.push(effect.job);
    }
  };
  const look = (
    readings: readonly Presence[],
    ready: readonly JobCandidate[] = [],
    { ms = 10_000, jump = 0, isSpent = false } = {},
  ): void => send({ type: 'look', readings, ready, isSpent }, ms, jump);
  return {
    send,
    look,
    moves,
    started,
    now: () => wall,
    get state() {
      return state;
    },
  };
}
const AWAY = [sees('sleep', 'away')];
const run = () => {
  const machine = drive();
  machine.look(AWAY, [practice]);
  machine.look(AWAY, [practice]);
  expect(machine.state.phase).toBe('running');
  return machine;
};

describe('the state machine', () => {
  it('opens after two readings that agree (not one), and closes after one', () => {
    const machine = drive();
    machine.look(AWAY);
    expect(machine.state.phase).toBe('waiting');
    machine.look(AWAY);
    expect(machine.state.phase).toBe('open');
    machine.look([...AWAY, sees('x11', 'present')]);
    expect(machine.state.phase).toBe('waiting');
    expect(machine.moves).toEqual(['waiting > open: sleep: away', 'open > waiting: x11: present']);
  });

  it('counts unknown as neither, and lets one present outweigh every away', () => {
    const machine = drive();
    for (let count = 0; count < 5; count++) machine.look([sees('x11', 'unknown')], [practice]);
    for (let count = 0; count < 5; count++)
      machine.look([sees('sleep', 'away'), sees('calendar', 'away'), sees('x11', 'present')], [practice]);
    expect(machine.started).toEqual([]);
    for (let count = 0; count < 2; count++) machine.look([...AWAY, sees('x11', 'unknown')], [practice]);
    expect(machine.started).toEqual(['practice']);
  });

  it('gives the window to the job of greatest priority, and the next one after it', () => {
    const machine = drive();
    machine.look(AWAY, [practice, training]);
    machine.look(AWAY, [practice, training]);
    machine.send({ type: 'ended', job: 'training', end: 'done' });
    expect(machine.state.phase).toBe('open');
    machine.look(AWAY, [practice]);
    expect(machine.started).toEqual(['training', 'practice']);
  });

  it('does not use a window that is too short, unless the job is shorter', () => {
    const machine = drive();
    const soon = () => [sees('calendar', 'away', machine.now() + 2 * 60_000)];
    for (let count = 0; count < 3; count++) machine.look(soon(), [practice]);
    expect(machine.state.phase).toBe('waiting');
    expect(machine.state.reasons).toEqual(['window too short']);
    machine.look(soon(), [{ ...practice, estimateMs: 30_000 }]);
    expect(machine.state.phase).toBe('running');
  });

  it('runs jobs that need no window while someone is present, each once at a time', () => {
    const machine = drive();
    const fast: JobCandidate = { name: 'adaptation', priority: 9, needsWindow: false, estimateMs: 1 };
    machine.look([sees('x11', 'present')], [fast]);
    machine.look([sees('x11', 'present')], [fast]);
    expect(machine.started).toEqual(['adaptation']);
    machine.send({ type: 'ended', job: 'adaptation', end: 'done' });
    machine.look([sees('x11', 'present')], [fast]);
    expect(machine.started).toEqual(['adaptation', 'adaptation']);
  });

  it('keeps the window closed for five minutes after a request, and while one is in flight', () => {
    const machine = run();
    machine.send({ type: 'traffic', inFlight: 1 });
    expect(machine.state.phase).toBe('pausing');
    machine.send({ type: 'ended', job: 'practice', end: 'paused' });
    for (let count = 0; count < 60; count++) machine.look(AWAY, [practice]);
    expect(machine.state.phase).toBe('waiting');
    machine.send({ type: 'traffic', inFlight: 0 });
    for (let count = 0; count < 29; count++) machine.look(AWAY, [practice]);
    expect(machine.state.phase).toBe('waiting');
    for (let count = 0; count < 3; count++) machine.look(AWAY, [practice]);
    expect(machine.state.phase).toBe('running');
  });

  it.each([
    ['an hour ahead', HOUR, 'the clock was set forward, or the machine was suspended'],
    ['an hour back', -HOUR, 'the clock was set back'],
    ['a day back', -24 * HOUR, 'the clock was set back'],
    ['ten years ahead', 87_600 * HOUR, 'the clock was set forward, or the machine was suspended'],
    ['nine hours of suspend', 9 * HOUR, 'the clock was set forward, or the machine was suspended'],
  ])('pauses at a clock jump and requires two fresh readings: %s', (_, jump, reason) => {
    const machine = run();
    machine.look(AWAY, [], { jump });
    expect(machine.state.phase).toBe('pausing');
    expect(machine.moves.at(-1)).toBe(`running > pausing: ${reason}`);
    machine.send({ type: 'ended', job: 'practice', end: 'paused' });
    machine.look(AWAY, [practice]);
    expect(machine.state.phase).toBe('waiting');
    machine.look(AWAY, [practice]);
    expect(machine.state.phase).toBe('running');
  });

  it('takes a long gap between events for suspend, where the monotonic clock continues meanwhile', () => {
    const machine = run();
    machine.look(AWAY, [], { ms: 9 * HOUR });
    expect(machine.moves.at(-1)).toBe('running > pausing: the machine was suspended');
  });

  it('abandons a job that does not stop within the grace period, and does not restart it before it ended', () => {
    const machine = run();
    machine.send({ type: 'traffic', inFlight: 0 });
    machine.send({ type: 'grace-over', job: 'practice' });
    expect(machine.state.phase).toBe('waiting');
    for (let count = 0; count < 40; count++) machine.look(AWAY, [practice]);
    expect(machine.started).toEqual(['practice']);
    machine.send({ type: 'ended', job: 'practice', end: 'paused' });
    machine.look(AWAY, [practice]);
    machine.look(AWAY, [practice], { ms: 20_000 });
    expect(machine.started).toEqual(['practice', 'practice']);
  });

  it('backs off after a failure, twice as long each time', () => {
    const machine = run();
    const waits: number[] = [];
    for (let failure = 0; failure < 4; failure++) {
      machine.send({ type: 'ended', job: 'practice', end: 'failed' });
      const before = machine.started.length;
      let looks = 0;
      while (machine.started.length === before && looks < 1000) {
        machine.look(AWAY, [practice]);
        looks++;
      }
      waits.push(looks);
    }
    expect(waits).toEqual([6, 12, 24, 48]);
  });

  it('reads often while a job runs or is about to, and rarely otherwise', () => {
    const machine = drive();
    expect(paceOf(machine.state, defaultScheduleRules)).toBe(60_000);
    machine.look(AWAY);
    expect(paceOf(machine.state, defaultScheduleRules)).toBe(10_000);
    machine.look(AWAY);
    expect(paceOf(machine.state, defaultScheduleRules)).toBe(60_000);
    machine.look(AWAY, [practice]);
    // A person who comes back is seen within a second.
    expect(paceOf(machine.state, defaultScheduleRules)).toBe(800);
  });

  it('stops at a spent budget and starts nothing more', () => {
    const machine = run();
    machine.look(AWAY, [], { isSpent: true });
    expect(machine.moves.at(-1)).toBe('running > pausing: budget spent');
    machine.send({ type: 'ended', job: 'practice', end: 'paused' });
    for (let count = 0; count < 5; count++) machine.look(AWAY, [practice], { isSpent: true });
    expect(machine.started).toEqual(['practice']);
  });
});

describe("the day's budget", () => {
  const create = () => {
    let wall = new Date(2026, 10, 14, 12).getTime();
    let mono = 0;
    const budget = createDayBudget({
      limits: { ms: 600_000, tokens: 100, usd: 1 },
      setting: 'schedule.budget',
      clock: { now: () => wall, monotonic: () => mono },
      dayOf: localDay,
    });
    return {
      budget,
      pass: (ms: number, jump = 0) => {
        mono += ms;
        wall += ms + jump;
      },
    };
  };

  it('is used up by time, tokens or money, whichever is first, and is new at midnight', () => {
    for (const cost of [
      { ms: 600_000, tokens: 0, usd: 0 },
      { ms: 0, tokens: 100, usd: 0 },
      { ms: 0, tokens: 0, usd: 1 },
    ]) {
      const { budget, pass } = create();
      expect(budget.refusal()).toBeUndefined();
      budget.spend(cost);
      expect(budget.refusal()).toContain('used up');
      pass(13 * HOUR);
      expect(budget.refusal()).toBeUndefined();
    }
  });

  it('refunds nothing when the clock is set back, and is not blocked after a date ten years ahead', () => {
    const { budget, pass } = create();
    budget.spend({ ms: 0, tokens: 100, usd: 0 });
    pass(1000, -48 * HOUR);
    expect(budget.refusal()).toContain('used up');
    pass(1000, 87_600 * HOUR);
    expect(budget.refusal()).toBeUndefined();
    budget.spend({ ms: 0, tokens: 100, usd: 0 });
    pass(1000, -87_600 * HOUR);
    expect(budget.refusal()).toContain('used up');
    pass(24 * HOUR);
    expect(budget.refusal()).toBeUndefined();
  });
});
