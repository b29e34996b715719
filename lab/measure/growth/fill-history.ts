import { formatTurnBodyKey, type NewFact } from '../../../src/core/store.ts';
import { createRequestEncoder } from '../../../src/record/request-manifest.ts';
import { openSqliteStore } from '../../../src/record/store/sqlite-store.ts';
import { createText } from '../gateway/traffic.ts';

const DAY_MS = 86_400_000;
const TURNS_PER_SESSION = 20;
const TEXT_BYTES = 800;
const BATCH = 200;
const VERDICTS = ['success', 'ambiguous', 'success', 'failure', 'ambiguous'] as const;

/** What the store itself needs for a history of this length, in milliseconds, and what it recorded a second. */
export interface HistoryTimes {
  readonly facts: number;
  readonly firstTenth: number;
  readonly lastTenth: number;
  readonly openMs: number;
  readonly newestMs: number;
  readonly oldMs: number;
  readonly showMs: number;
}

/**
 * Turns spread evenly over the last year, in sessions of twenty, each with a new question and a new answer, as a daemon leaves
 * them: appraised, and every session ended and scored.
 */
export function fillHistory(file: string, turns: number, tell: (line: string) => void): HistoryTimes {
  const start = Date.now() - 365 * DAY_MS;
  const store = openSqliteStore({ file });
  const next = createHistory(start, turns);
  const rates: number[] = [];
  let from = performance.now();
  for (let done = BATCH; done <= turns; done += BATCH) {
    store.append(next(BATCH));
    if (done % (turns / 10) !== 0) continue;
    rates.push(turns / 10 / ((performance.now() - from) / 1000));
    from = performance.now();
    tell(`${done} turns, ${Math.round(rates.at(-1) ?? 0)} a second`);
  }
  const { facts } = store.totals();
  store.close();

  const opened = timed(() => openSqliteStore({ file }));
  const newest = timed(() => opened.value.sessions({ limit: 50 }));
  const old = timed(() => opened.value.sessions({ limit: 50, before: start + 30 * DAY_MS }));
  const show = timed(() => opened.value.turns(newest.value[25]?.id ?? ''));
  opened.value.close();
  return {
    facts,
    firstTenth: rates[0] ?? Number.NaN,
    lastTenth: rates.at(-1) ?? Number.NaN,
    openMs: opened.ms,
    newestMs: newest.ms,
    oldMs: old.ms,
    showMs: show.ms,
  };
}

function createHistory(start: number, turns: number) {
  const step = (364 * DAY_MS) / turns;
  const words = createText(turns);
  const encoder = createRequestEncoder((value) => JSON.stringify(value));
  let n = 0;
  return (count: number) => {
    const facts: NewFact[] = [];
    const blocks = [];
    for (let i = 0; i < count; i++, n++) {
      const at = Math.round(start + n * step);
      const nth = n % TURNS_PER_SESSION;
      const session = `s_${Math.floor(n / TURNS_PER_SESSION).toString(36)}`;
      const turn = `t_${n.toString(36).padStart(20, '0')}`;
      const request = formatTurnBodyKey({ turn, part: 'request' });
      const reply = formatTurnBodyKey({ turn, part: 'reply' });
      const messages = [{ role: 'user', content: `${n} ${words(TEXT_BYTES)}` }];
      const body = Buffer.from(JSON.stringify({ model: 'm', max_tokens: 9, messages }));
      const text = JSON.stringify({
        content: [{ type: 'text', text: `${n} ${words(TEXT_BYTES)}` }],
        stop: 'end',
      });
      blocks.push(...(encoder.keep(request, session, 'anthropic', body) ?? []), {
        hash: reply,
        text,
        session,
      });
      const project = { id: `p${Math.floor(n / TURNS_PER_SESSION) % 7}`, label: 'shop' };
      const verdict = VERDICTS[n % VERDICTS.length] ?? 'ambiguous';
      facts.push(
        {
          at,
          fact: {
            type: 'turn-start',
            turn,
            session,
            project,
            agent: 'claude-code',
            client: 'claude-code',
            role: 'main',
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
            usage: { inputTokens: 9000, outputTokens: 300 },
            reply,
          },
        },
        {
          at: at + 2000,
          fact: {
            type: 'turn-appraised',
            turn,
            session,
            scope: { agent: 'claude-code', project: project.id },
            generation: 3,
            verdict,
            ...(verdict === 'ambiguous'
              ? {}
              : { reward: verdict === 'success' ? 0.8 : 0.2, source: 'signal' }),
            signals: [],
            digests: [],
          },
        },
      );
      if (nth < TURNS_PER_SESSION - 1) continue;
      facts.push(
        { at: at + 3000, fact: { type: 'session-end', session, reason: 'idle' } },
        { at: at + 4000, fact: { type: 'session-scored', session, score: 0.7, lessons: [], heldOut: [] } },
      );
    }
    return { facts, blocks };
  };
}

function timed<T>(work: () => T): { readonly ms: number; readonly value: T } {
  const from = performance.now();
  const value = work();
  return { ms: performance.now() - from, value };
}
