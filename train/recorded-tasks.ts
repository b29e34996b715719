import type { ChatRequest } from '../src/core/chat.ts';
import { asObject } from '../src/core/json.ts';
import type { Ask } from '../src/core/learn.ts';
import { NO_COST } from '../src/core/learn.ts';
import type { Lesson } from '../src/core/lesson.ts';
import type { DecodedTurn, Records, SessionView, TurnView } from '../src/core/store.ts';
import { isPractisedOn } from '../src/evidence/learned-from.ts';
import { taskOf } from '../src/evidence/turn-evidence.ts';
import { createVerifiers, type Verifiers } from '../src/evidence/verifiers/registry.ts';
import { answerOf, domainOf } from '../src/evidence/verify-session.ts';
import { gradeByRules, isGradingRule, rulesFor } from '../src/learn/rule-checks.ts';
import { estimateTokens } from '../src/text/estimate-tokens.ts';
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
  /** The rules that the recorded answer was graded by; none: a verifier graded it. */
  readonly rules: readonly string[];
  /** About how many the request and its answer have. */
  readonly tokens: { readonly prompt: number; readonly reply: number };
}

const PREFIX = 'recorded/';

/** Whether an id is that of a recorded task. */
export const isRecordedTask = (id: string): boolean => id.startsWith(PREFIX);

/** With the recorded answer. */
interface AnsweredRecordedTask {
  readonly task: Omit<RecordedTask, 'rules'>;
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
  const task: AnsweredRecordedTask['task'] = {
    kind: 'recorded',
    id: `${PREFIX}${id}`,
    request: asAsked(read.request),
    firstAt: startedAt,
    text,
    domain,
    agent,
    tokens: { prompt: estimateTokens(JSON.stringify(read.request.messages)), reply: estimateTokens(answer) },
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
  /** The lessons that are shown now: rules of the home's person grade what no verifier does. */
  readonly lessons: () => readonly Lesson[];
  readonly records: Pick<Records, 'sessions' | 'recalls' | 'turns'>;
  /** The turn's request and reply; undefined when they cannot be read any more. */
  readonly decodeTurn: (turn: TurnView) => Promise<DecodedTurn | undefined>;
  readonly now: () => number;
}

/** An answer to a recorded task. */
export interface RecordedAnswer extends Pick<RecordedTask, 'text' | 'domain' | 'agent' | 'project'> {
  readonly answer: string;
}

/** `rules`: the lessons whose checks gave the reward; none: a verifier did. */
export interface RecordedGrade {
  /** 0 to 1. */
  readonly reward: number;
  readonly rules: readonly string[];
}

/** Tasks that the home's person gave, and the grades of answers to them by configured verifiers and by the person's own rules. */
export interface RecordedTasks {
  /** Whether a verifier or a rule is there that could grade an answer. */
  readonly canGrade: boolean;
  /** Newest first. Only tasks whose recorded answer can be graded: then an attempt can be, too. */
  gather(signal: AbortSignal): Promise<readonly RecordedTask[]>;
  /** Undefined when neither a verifier nor a rule could grade it. */
  grade(answer: RecordedAnswer, signal: AbortSignal): Promise<RecordedGrade | undefined>;
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
  const hasVerifier = async (domain: string): Promise<boolean> =>
    ASK_NOBODY.has((await verifiers()).rowFor(domain)?.kind ?? '');
  const grade: RecordedTasks['grade'] = async ({ text, domain, agent, project, answer }, signal) => {
    if (await hasVerifier(domain)) {
      const graded = await (await verifiers()).verify({ task: text, domain, output: answer }, signal);
      return graded.status === 'ok' ? { reward: graded.reward, rules: [] } : undefined;
    }
    const rules = rulesFor(options.lessons(), { agent, project, domain });
    const graded = gradeByRules(rules, { request: text, reply: answer, files: [], commands: [] });
    return graded && { reward: graded.reward, rules: graded.rules };
  };
  return {
    get canGrade() {
      const isVerified = options.rows.some((row) => ASK_NOBODY.has(String(asObject(row).kind)));
      return isVerified || options.lessons().some(isGradingRule);
    },
    grade,
    gather: async (signal) => {
      const tasks = new Map<string, RecordedTask>();
      for (const session of await records.sessions({ limit: MOST_SESSIONS, withoutPractice: true })) {
        if (signal.aborted) break;
        if (session.erased || session.lastAt < now() - MOST_DAYS * DAY_MS) continue;
        const domain = await domainOf(session.id, records);
        if (!(await hasVerifier(domain)) && !options.lessons().some(isGradingRule)) continue;
        const read = await readRecordedTask(session, domain, options);
        if (read === undefined) continue;
        // The same text again is the same task.
        const name = JSON.stringify([domain, read.task.text]);
        const known = tasks.get(name);
        if (known !== undefined) {
          tasks.set(name, { ...known, firstAt: Math.min(known.firstAt, read.task.firstAt) });
          continue;
        }
        const graded = await grade({ ...read.task, answer: read.answer }, signal);
        if (graded !== undefined) tasks.set(name, { ...read.task, rules: graded.rules });
      }
      return [...tasks.values()];
    },
  };
}
