import { createText } from '../gateway/traffic.ts';
import { readTasks } from '../recall/read-tasks.ts';

/** One request of the day. The bodies are the same for every subject. */
export interface PacedTurn {
  readonly session: string;
  /** From 0. */
  readonly nth: number;
  readonly isLast: boolean;
  /** When it is sent, as a multiple of the mean pause between two turns. */
  readonly at: number;
  readonly body: string;
}

interface DayReply {
  readonly text: string;
  /** A tool that the agent calls next; absent in an answer. */
  readonly call?: { readonly id: string; readonly name: string; readonly arguments: string };
}

interface Burst {
  /** What the person says. */
  readonly said: string;
  /** Results of tools; the agent answers after the last. */
  readonly results: readonly string[];
}

/** At work at the same time. */
const ACTIVE = 3;
/** Turns of one burst follow each other this much faster than the mean; then there is a pause. */
const HURRY = 0.5;
const LONGEST_BURST = 6;
const LONG_PASTE = 40_000;
const MOST_TYPED = 400;
/** Real requests: made-up words have three times as many word pieces, and cost a language model as much more. */
const ASKED = readTasks('lab/measure/recall/tasks.jsonl')
  .tasks.map(({ query }) => query)
  .filter(({ length }) => length <= MOST_TYPED);

/** A message that nobody else sent: two wishes, of which each stands in few others. */
function askFor(session: number, nth: number): string {
  const [first, second] = [session * 31 + nth * 7, session * 17 + nth * 53 + 1];
  return `${ASKED[first % ASKED.length]} ${ASKED[second % ASKED.length]}`;
}

function pasteLog(words: (length: number) => string): string {
  const line = (nth: number): string =>
    `2026-11-17T10:${String(nth % 60).padStart(2, '0')}:07.113Z ERROR [build] ${words(90)}`;
  return Array.from({ length: Math.round(LONG_PASTE / 128) }, (_, nth) => line(nth)).join('\n');
}

/** Marks a turn in the last message of its request, so that the provider knows what to answer. */
export const TURN_MARK = /\[turn (\d+)\.(\d+)\]/g;
const mark = (session: number, turn: number): string => `[turn ${session}.${turn}]`;

/** What the model says in this turn. */
export function replyOf(session: number, turn: number): DayReply {
  const words = createText(1000 * session + turn);
  const { burst, step } = placeOf(session, turn);
  const isAnswer = step === burst.results.length;
  if (isAnswer) return { text: `Done. ${words(300 + ((session * 7 + turn * 13) % 600))}` };
  const id = `call_${session}_${turn}`;
  const name = TOOLS[(session + turn) % TOOLS.length]?.function.name ?? 'read_file';
  return {
    text: words(80),
    call: { id, name, arguments: JSON.stringify({ path: `src/${words(12).trim()}.ts` }) },
  };
}

/**
 * `turns` requests of a coding agent's day: three sessions at a time, each of one to nine bursts (a person's message and the tool
 * calls that follow it), the history sent whole each time, now and then a long paste or a correction.
 */
export function planDay(name: string, firstSession: number, turns: number): readonly PacedTurn[] {
  const plan: PacedTurn[] = [];
  let next = firstSession;
  let at = 0;
  const begin = () => createSession(name, next++);
  const active = Array.from({ length: ACTIVE }, begin);
  for (let lane = 0; plan.length < turns; lane = (lane + 1) % ACTIVE) {
    const session = active[lane] ?? begin();
    const burst = session.burst(plan.length + LONGEST_BURST >= turns);
    for (const turn of burst) {
      plan.push({ ...turn, at });
      at += HURRY;
    }
    at += burst.length * (1 - HURRY);
    active[lane] = burst.at(-1)?.isLast === true ? begin() : session;
  }
  return plan;
}

/** Sessions grow longer over the day. */
const burstsOf = (session: number): number => 1 + ((session * 2) % 9);

function burstOf(session: number, nth: number): Burst {
  const words = createText(500 * session + nth);
  const kind = (session * 5 + nth) % 40;
  const said =
    kind === 3
      ? `The build fails, this is its log:\n${pasteLog(words)}`
      : kind === 7
        ? `No. We never use floats for the sums of ledger ${session}. ${ASKED[session % ASKED.length]}`
        : askFor(session, nth);
  const calls = (session + nth * 3) % LONGEST_BURST;
  const results = Array.from({ length: calls }, (_, call) =>
    (session + call) % 8 === 3
      ? `Exit code 1\n${words(600)}`
      : words(300 + ((session * 97 + nth * 41 + call * 733) % 3500)),
  );
  return { said, results };
}

function placeOf(session: number, turn: number): { readonly burst: Burst; readonly step: number } {
  let left = turn;
  for (let nth = 0; ; nth++) {
    const burst = burstOf(session, nth);
    if (left <= burst.results.length) return { burst, step: left };
    left -= burst.results.length + 1;
  }
}

function createSession(name: string, session: number) {
  const messages: object[] = [{ role: 'system', content: SYSTEM }];
  let turn = 0;
  let nth = 0;
  const send = (content: object, isLast: boolean): Omit<PacedTurn, 'at'> => {
    messages.push(content);
    const body = JSON.stringify({ model: 'pace', stream: true, tools: TOOLS, messages });
    const { text, call } = replyOf(session, turn);
    const calls = call && [
      { id: call.id, type: 'function', function: { name: call.name, arguments: call.arguments } },
    ];
    messages.push({
      role: 'assistant',
      content: text,
      ...(calls === undefined ? {} : { tool_calls: calls }),
    });
    return { session: `${name}-${session}`, nth: turn++, isLast, body };
  };
  return {
    burst: (isEnd: boolean): readonly Omit<PacedTurn, 'at'>[] => {
      const { said, results } = burstOf(session, nth++);
      const isLast = isEnd || nth >= burstsOf(session);
      return [said, ...results].map((text, step) => {
        const content = `${text} ${mark(session, turn)}`;
        const message =
          step === 0
            ? { role: 'user', content }
            : { role: 'tool', tool_call_id: `call_${session}_${turn - 1}`, content };
        return send(message, isLast && step === results.length);
      });
    },
  };
}

const words = createText(9);
const SYSTEM = `You are a coding agent. ${words(6000)}`;
const TOOLS = ['read_file', 'edit_file', 'run_command', 'search', 'list_files', 'fetch_page'].map((name) => ({
  type: 'function',
  function: {
    name,
    description: words(500),
    parameters: { type: 'object', properties: { path: { type: 'string', description: words(80) } } },
  },
}));
