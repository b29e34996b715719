import { mkdirSync } from 'node:fs';
import path from 'node:path';
import type { LessonText } from '../../../src/core/lesson.ts';
import { formatTurnBodyKey, type NewFact, type Store } from '../../../src/core/store.ts';
import { createRequestEncoder } from '../../../src/record/request-manifest.ts';
import { openSqliteStore } from '../../../src/record/store/sqlite-store.ts';

export interface LargeHome {
  readonly turns: number;
  readonly lessons: number;
  readonly events: number;
}

const DAY = 86_400_000;
const BATCH = 500;
const AGENTS = ['claude-code', 'codex', 'reporter', 'planner'];
const VERDICTS = ['success', 'success', 'failure'] as const;

/** A home as it is after a year: a session for each turn, lessons of every state, and many reported events. */
export function fillHome(dir: string, size: LargeHome, tell: (line: string) => void): void {
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  const store = openSqliteStore({ file: path.join(dir, 'instar.sqlite') });
  const start = Date.now() - 365 * DAY;
  fillLessons(store, size.lessons, start);
  tell(`${size.lessons} lessons`);
  fillTurns(store, size.turns, start);
  tell(`${size.turns} turns`);
  fillEvents(store, size.events, start);
  tell(`${size.events} events`);
  store.close();
}

function fillTurns(store: Store, count: number, start: number): void {
  const encoder = createRequestEncoder((value) => JSON.stringify(value));
  for (let from = 0; from < count; from += BATCH) {
    const facts: NewFact[] = [];
    const blocks = [];
    for (let n = from; n < Math.min(from + BATCH, count); n++) {
      const at = Math.round(start + (n * 364 * DAY) / count);
      const session = `s_${n.toString(36).padStart(8, '0')}`;
      const turn = `t_${n.toString(36).padStart(20, '0')}`;
      const request = formatTurnBodyKey({ turn, part: 'request' });
      const reply = formatTurnBodyKey({ turn, part: 'reply' });
      const agent = AGENTS[n % AGENTS.length] ?? '';
      const messages = [
        {
          role: 'user',
          content: `Question ${n}: write the amounts of account ${n % 977} into report.md, please.`,
        },
      ];
      const body = Buffer.from(JSON.stringify({ model: 'm', max_tokens: 9, messages }));
      const text = JSON.stringify({
        content: [{ type: 'text', text: `Answer ${n}: I wrote the amounts, with their units.` }],
        stop: 'end',
      });
      blocks.push(...(encoder.keep(request, session, 'anthropic', body) ?? []), {
        hash: reply,
        text,
        session,
      });
      const verdict = VERDICTS[n % VERDICTS.length] ?? 'success';
      const project = { id: `p${n % 7}`, label: `shop ${n % 7}` };
      facts.push(
        {
          at,
          fact: {
            type: 'turn-start',
            turn,
            session,
            agent,
            client: agent,
            role: 'main',
            project,
            wire: 'anthropic',
            model: 'claude-sonnet-5',
            generation: 3,
            policy: 'anthropic/claude-sonnet-5',
            lessons: [],
            request,
            caller: 'k_bench',
          },
        },
        {
          at: at + 900,
          fact: {
            type: 'turn-end',
            turn,
            status: 'complete',
            httpStatus: 200,
            firstByteMs: 300,
            totalMs: 900,
            usage: { inputTokens: 9000, outputTokens: 300, cacheReadTokens: 7000 },
            reply,
          },
        },
        {
          at: at + 2000,
          fact: {
            type: 'turn-appraised',
            turn,
            session,
            scope: { agent, project: project.id },
            generation: 3,
            verdict,
            reward: verdict === 'success' ? 0.5 : -0.5,
            source: 'signal',
            signals: [],
            digests: [],
          },
        },
      );
      if (n % 20 === 0)
        facts.push({
          at: at + 3000,
          fact: { type: 'reward-given', turn, source: 'person', score: n % 40 === 0 ? 1 : -1 },
        });
    }
    store.append({ facts, blocks });
  }
}

const STATES = ['live', 'trial', 'live', 'proposed'] as const;

function fillLessons(store: Store, count: number, start: number): void {
  for (let from = 0, set = 0; from < count; from += 50, set++) {
    const changes = Array.from({ length: Math.min(50, count - from) }, (_, index) => {
      const n = from + index;
      return {
        op: 'add' as const,
        id: `lesson_${n.toString(36).padStart(6, '0')}`,
        kind: 'skill' as const,
        state: STATES[n % STATES.length] ?? ('live' as const),
        text: lessonTextOf(n),
      };
    });
    const fact = {
      type: 'library-changed',
      set: `c_${set}`,
      by: { kind: 'learner', name: 'distiller' },
      reason: `distiller: set ${set}`,
      changes,
      generation: set + 1,
    } as const;
    store.append({ facts: [{ at: start + set * 3_600_000, fact }] });
  }
}

function lessonTextOf(n: number): LessonText {
  const links = n < 10 ? [] : [`lesson_${(n - 7).toString(36).padStart(6, '0')}`];
  return {
    name: `rule-${n}`,
    description: `When you write amounts of account ${n}.`,
    content: `The user said:\n\n> Put unit ${n} behind every amount of account ${n}, such as 12.50 EUR, and check the totals.`,
    scope: { agent: AGENTS[n % AGENTS.length] ?? '' },
    note: {
      keywords: ['amount', `account${n}`],
      tags: [],
      importance: 0.5,
      confidence: 0.9,
      source: 'told',
      visibility: 'scoped',
      halfLifeDays: 60,
      links,
    },
    evidence: { turns: [`t_${n.toString(36).padStart(20, '0')}`], quotes: [], learner: 'distiller' },
    taint: [],
  };
}

function fillEvents(store: Store, count: number, start: number): void {
  for (let from = 0; from < count; from += 5000) {
    const facts = Array.from({ length: Math.min(5000, count - from) }, (_, index): NewFact => {
      const n = from + index;
      const agent = AGENTS[n % AGENTS.length] ?? '';
      return {
        at: Math.round(start + (n * 364 * DAY) / count),
        fact: {
          type: 'event-reported',
          kind: 'agent_error',
          agent,
          score: n % 100,
          data: { n },
          by: 'k_bench',
        },
      };
    });
    store.append({ facts });
  }
}
