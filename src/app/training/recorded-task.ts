import type { ChatRequest } from '../../core/chat.ts';
import type { Records } from '../../core/records.ts';
import type { SessionView } from '../../core/store.ts';
import { taskOf } from '../learning/read-evidence.ts';
import { readTurn } from '../learning/stored-turn.ts';
import { answerOf } from '../learning/verify-session.ts';

/**
 * The first request of a recorded session as its client sent it, without lessons. One reply is an attempt at it; tools it
 * calls are not run.
 */
export interface RecordedTask {
  readonly kind: 'recorded';
  readonly id: string;
  readonly request: ChatRequest;
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
export interface AnsweredTask {
  readonly task: RecordedTask;
  readonly answer: string;
}

/**
 * Undefined when the session was erased, did not begin with a text-only question, or was not answered with text at once: a
 * session that began with tool calls cannot be graded by its first reply.
 */
export async function readRecordedTask(
  { id, agent, project, erased }: SessionView,
  domain: string,
  records: Pick<Records, 'turns' | 'block'>,
): Promise<AnsweredTask | undefined> {
  if (erased) return undefined;
  const first = (await records.turns(id)).find(({ role }) => role === 'main');
  const read = first?.status === 'complete' ? await readTurn(first, records, new Map()) : undefined;
  if (read === undefined || !isBeginning(read.request)) return undefined;
  const answer = answerOf(read);
  const text = taskOf(read.request.messages);
  if (answer === '' || text === '') return undefined;
  const task: RecordedTask = {
    kind: 'recorded',
    id: `${PREFIX}${id}`,
    request: asAsked(read.request),
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
