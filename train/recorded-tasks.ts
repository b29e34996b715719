import type { ChatRequest } from '../src/core/chat.ts';
import { asObject } from '../src/core/json.ts';
import type { Ask } from '../src/core/learn.ts';
import { NO_COST } from '../src/core/learn.ts';
import type { DecodedTurn, Records, SessionView, TurnView } from '../src/core/store.ts';
import { isPractisedOn } from '../src/evidence/learned-from.ts';
import { taskOf } from '../src/evidence/turn-evidence.ts';
import { createVerifiers, type Verifiers } from '../src/evidence/verifiers/registry.ts';
import { answerOf, domainOf } from '../src/evidence/verify-session.ts';
import { carriesOutsideText } from '../src/text/typed-text.ts';

/**
 * The first request of a recorded session as its client sent it, without lessons. One reply is an attempt at it; tools it
 * calls are not run.
 */
export interface RecordedTask {
  readonly kind: 'recorded';
  readonly id: string;
  readonly request: ChatRequest;
  /** When these words were asked for the first time. */
  readonly firstAt: number;
  /** The user's words in the request. */
  readonly text: string;
  readonly domain: string;
  readonly agent: string;
  readonly project?: string;
}

const PREFIX = 'recorded/';

/** Whether an id is that of a recorded task. */
export const isRecordedTask = (id: string): boolean => id.startsWith(PREFIX);

/** With the recorded answer. */
interface AnsweredRecordedTask {
  readonly task: RecordedTask;
  readonly answer: string;
}

/**
 * Undefined when the session was erased, did not begin with a text-only question in the user's own words, or was not answered
 * with text at once: a session that began with tool calls cannot be graded by its first reply.
 */
async function readRecordedTask(
  { id, agent, project, erased, startedAt }: SessionView,
  domain: string,
  { records, decodeTurn }: Pick<RecordedTasksOptions, 'records' | 'decodeTurn'>,
): Promise<AnsweredRecordedTask | undefined> {
  if (erased) return undefined;
  const first = (await records.turns(id)).find(({ role }) => role === 'main');
  const isUsable = first?.status === 'complete' && isPractisedOn(first);
  const read = isUsable ? await decodeTurn(first) : undefined;
  if (read === undefined || !isBeginning(read.request)) return undefined;
  const answer = answerOf(read);
  const text = taskOf(read.request.messages);
  // Practice on text that a stranger wrote would teach what the stranger wants.
  if (answer === '' || text === '' || carriesOutsideText(text)) return undefined;
  const task: RecordedTask = {
    kind: 'recorded',
    id: `${PREFIX}${id}`,
    request: asAsked(read.request),
    firstAt: startedAt,
    text,
    domain,
    agent,
    ...(project === undefined ? {} : { project: project.id }),
  };
  return { task, answer };
}

const isBeginning = ({ messages }: ChatRequest): boolean =>
  messages.at(-1)?.role === 'user' &&
  messages.every(
    ({ role, content }) =>
      (role === 'user' || role === 'system') && content.every(({ type }) => type === 'text'),
  );

/** Attempts use the policy's own sampling parameters: replies sampled with the client's do not train. */
const asAsked = ({ system, messages, tools, toolChoice, maxTokens, format }: ChatRequest): ChatRequest => ({
  model: 'policy',
  system,
  messages,
  tools,
  stream: false,
  ...(toolChoice === undefined ? {} : { toolChoice }),
  ...(maxTokens === undefined ? {} : { maxTokens }),
  ...(format === undefined ? {} : { format }),
});

export interface RecordedTasksOptions {
  /** `learn.verifiers` of the configuration; read when they are needed: they may change. */
  readonly rows: Parameters<typeof createVerifiers>[0];
  readonly records: Pick<Records, 'sessions' | 'recalls' | 'turns'>;
  /** The turn's request and reply; undefined when they cannot be read any more. */
  readonly decodeTurn: (turn: TurnView) => Promise<DecodedTurn | undefined>;
  readonly now: () => number;
}

/** An answer to a recorded task. */
export interface RecordedAnswer {
  readonly task: string;
  readonly domain: string;
  readonly answer: string;
}

/** Tasks that users gave, and the grades of answers to them by the verifiers that the users configured. */
export interface RecordedTasks {
  /** Whether any verifier is configured that could grade an answer. */
  readonly canGrade: boolean;
  /** Newest first. Only tasks whose recorded answer can be graded: then an attempt can be, too. */
  gather(signal: AbortSignal): Promise<readonly RecordedTask[]>;
  /** 0 to 1; undefined when no verifier could grade it. */
  grade(answer: RecordedAnswer, signal: AbortSignal): Promise<number | undefined>;
}

const DAY_MS = 24 * 3_600_000;
const MOST_DAYS = 30;
/** One in five is held out, and more than a hundred held-out tasks may be needed to measure new weights. */
const MOST_SESSIONS = 1_000;

/** Verifiers that need only the task and the answer. A rubric asks a model, which costs money. */
const ASK_NOBODY: ReadonlySet<string> = new Set(['exact', 'number', 'regex', 'schema', 'module']);
const ASK: Ask = async () => ({
  ok: false,
  why: 'training asks no model',
  isRetryable: false,
  cost: NO_COST,
});

export function createRecordedTasks(options: RecordedTasksOptions): RecordedTasks {
  const { records, now } = options;
  let made: { readonly rows: RecordedTasksOptions['rows']; readonly all: Promise<Verifiers> } | undefined;
  const verifiers = (): Promise<Verifiers> => {
    const { rows } = options;
    if (made?.rows !== rows) made = { rows, all: createVerifiers(rows, { ask: ASK }) };
    return made.all;
  };
  const grade: RecordedTasks['grade'] = async ({ task, domain, answer }, signal) => {
    const all = await verifiers();
    if (!ASK_NOBODY.has(all.rowFor(domain)?.kind ?? '')) return undefined;
    const graded = await all.verify({ task, domain, output: answer }, signal);
    return graded.status === 'ok' ? graded.reward : undefined;
  };
  return {
    get canGrade() {
      return options.rows.some((row) => ASK_NOBODY.has(String(asObject(row).kind)));
    },
    grade,
    gather: async (signal) => {
      if (options.rows.length === 0) return [];
      const tasks = new Map<string, RecordedTask>();
      for (const session of await records.sessions({ limit: MOST_SESSIONS, withoutPractice: true })) {
        if (signal.aborted) break;
        if (session.erased || session.lastAt < now() - MOST_DAYS * DAY_MS) continue;
        const domain = await domainOf(session.id, records);
        if (!ASK_NOBODY.has((await verifiers()).rowFor(domain)?.kind ?? '')) continue;
        const read = await readRecordedTask(session, domain, options);
        if (read === undefined) continue;
        // The same text again is the same task.
        const name = JSON.stringify([domain, read.task.text]);
        const known = tasks.get(name);
        if (known !== undefined) {
          tasks.set(name, { ...known, firstAt: Math.min(known.firstAt, read.task.firstAt) });
          continue;
        }
        const worth = await grade({ task: read.task.text, domain, answer: read.answer }, signal);
        if (worth !== undefined) tasks.set(name, read.task);
      }
      return [...tasks.values()];
    },
  };
}
