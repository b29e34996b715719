import type { AssistantPart, ChatMessage, ChatRequest } from '../core/chat.ts';
import type { ToolOutcome, TurnEvidence } from '../core/evidence.ts';
import { compact } from '../core/json.ts';
import type { LabelledSpan } from '../core/reading.ts';
import type { DecodedTurn, RewardView } from '../core/store.ts';
import { isChatWordMessage, readTypedWords } from '../text/chat-word.ts';
import { marksStop, separateTypedText } from '../text/typed-text.ts';
import { isRevisedAnswer } from './signals/revised-answer.ts';
import { resultMark } from './signals/tool-signals.ts';
import { hasFindings } from './tools/edit-findings.ts';
import { readCall } from './tools/tool-call.ts';
import { hasToolFailed } from './tools/tool-outcome.ts';

interface EvidenceSources {
  readonly session: string;
  readonly turn: DecodedTurn;
  /** The request that follows it: it shows the consequences of the reply (tool results, the user's next message). */
  readonly after: DecodedTurn | undefined;
  /** A request after that: it shows whether a failed edit was made right. */
  readonly later?: DecodedTurn | undefined;
  readonly given: readonly RewardView[];
  /** What a model read in messages, by the first turn that answers each. */
  readonly readings?: ReadonlyMap<string, readonly LabelledSpan[]>;
}

/** The evidence of one turn of a session. */
export function createTurnEvidence(sources: EvidenceSources): TurnEvidence {
  const { session, turn, given, readings } = sources;
  const { view, request, reply, stop } = turn;
  return compact({
    turn: view.id,
    session,
    agent: view.agent,
    role: view.role,
    status: view.status ?? 'crashed',
    failure: view.failure,
    task: taskOf(request.messages),
    spans: readings?.get(view.id),
    isFollowUp: hasReplied(request.messages) ? true : undefined,
    tools: request.tools.map(({ name, parameters }) => ({ name, parameters })),
    reply,
    stop,
    earlier: earlierCalls(request.messages),
    answered: reply.some(({ type }) => type === 'tool-call') ? undefined : answeredCalls(request.messages),
    askedBefore: askedBefore(request.messages),
    next: nextState(sources),
    given: given.map(({ source, score, note, by }) => compact({ source, score, note, by })),
    attempts: [],
  });
}

/** The messages that the next request adds, up to the user's next one: the reply itself, the tool results, the message. */
export function messagesAfter(
  turn: DecodedTurn,
  after: DecodedTurn | undefined,
): readonly ChatMessage[] | undefined {
  const messages = withoutInsertedMessages(turn.request.messages);
  const later = after && withoutInsertedMessages(after.request.messages);
  if (later === undefined || later.length <= messages.length) return undefined;
  const fresh = withoutChatWords(later.slice(messages.length));
  const user = fresh.findIndex(({ role }) => role === 'user');
  if (user < 0) return fresh;
  // A client may put messages of its own before the person's: that a call was interrupted, what has changed meanwhile.
  let last = user;
  while (fresh[last + 1]?.role === 'user' && !isTyped(fresh[last])) last++;
  return fresh.slice(0, last + 1);
}

/** What the person ran in a shell of their own: Claude Code, Codex. */
const OWN_ACTS = ['<bash-input>', '<user_shell_command>'] as const;

/**
 * Without messages that a client alone wrote, such as the time and the folder: it adds one to a request and leaves it out of the
 * next, so that it is neither the task, nor what the user said next, nor part of the length of the history.
 */
const withoutInsertedMessages = (messages: readonly ChatMessage[]): readonly ChatMessage[] =>
  messages.filter((message) => {
    if (message.role !== 'user' || message.content.some(({ type }) => type !== 'text')) return true;
    const text = textOf(message).trimStart();
    return (
      !text.startsWith('<') || OWN_ACTS.some((tag) => text.startsWith(tag)) || readTypedWords(text) !== ''
    );
  });

const isTyped = (message: ChatMessage | undefined): boolean =>
  message !== undefined && separateTypedText(textOf(message)).typed !== '';

/** Without what was said to Instar and its answers: the first is recorded as a reward, the second nobody's work. */
export function withoutChatWords(messages: readonly ChatMessage[]): readonly ChatMessage[] {
  const others: ChatMessage[] = [];
  let isAnswered = true;
  for (const message of messages) {
    if (message.role === 'user' && isChatWordMessage(textsOf(message))) isAnswered = false;
    else if (isAnswered) others.push(message);
    // A client may put a message of its own between the word and the answer.
    else if (message.role === 'assistant') isAnswered = true;
    else if (message.role !== 'user' || readTypedWords(textOf(message)) !== '') {
      isAnswered = true;
      others.push(message);
    }
  }
  return others;
}

/** The consequences of the reply. */
function nextState({ turn, after, later, readings }: EvidenceSources): TurnEvidence['next'] {
  const fresh = messagesAfter(turn, after);
  if (fresh === undefined) return undefined;
  const calls = new Set(turn.reply.flatMap((part) => (part.type === 'tool-call' ? [part.id] : [])));
  const tools = fresh.flatMap((message) =>
    message.role === 'tool' && calls.has(message.callId) ? [outcomeOf(message)] : [],
  );
  const messages = fresh
    .flatMap((message) => (message.role === 'user' ? [textOf(message)] : []))
    .map((text) => ({ text, results: readTextResults(text, turn.reply) }));
  const written = [
    ...messages.flatMap(({ results }) => results.map(({ outcome }) => outcome)),
    ...findingsBeside(after, calls),
  ];
  // Results written as text are no message; what the person typed beside them is.
  const user = messages
    .flatMap(({ text, results }) =>
      results.length === 0 || separateTypedText(text).typed !== '' ? [text] : [],
    )
    .join('\n');
  const isMessage = user !== '';
  const spans = isMessage ? readings?.get(after?.view.id ?? '') : undefined;
  const answer = after?.reply.flatMap((part) => (part.type === 'tool-call' ? [part] : [])) ?? [];
  const following = answer.map(({ name, arguments: given }) => ({ name, arguments: given }));
  return {
    tools: [...tools, ...written],
    ...(isMessage ? { user } : {}),
    ...(spans === undefined ? {} : { spans }),
    ...(following.length === 0 ? {} : { calls: following }),
    ...(isStopped(user, after) ? { isStopped: true as const } : {}),
    ...(isMessage && isRevisedAnswer(saidIn(turn), saidIn(after)) ? { isRevised: true as const } : {}),
    ...(isCorrected(turn, later) ? { isCorrected: true as const } : {}),
  };
}

/** What stands at the end of the request that follows: all in the person's name since the agent's last act. */
function closingTexts(after: DecodedTurn | undefined): readonly string[] {
  const messages = after?.request.messages ?? [];
  const last = messages.findLastIndex(({ role }) => role !== 'user');
  return messages.slice(last + 1).map(textOf);
}

const isStopped = (user: string, after: DecodedTurn | undefined): boolean =>
  marksStop(user) || closingTexts(after).some(marksStop);

/** What a client found in an edit and wrote beside its result, in a text of its own. */
function findingsBeside(after: DecodedTurn | undefined, calls: ReadonlySet<string>): readonly ToolOutcome[] {
  const messages = after?.request.messages ?? [];
  const result = messages.findLastIndex((message) => message.role === 'tool' && calls.has(message.callId));
  if (result < 0) return [];
  const call = { name: 'edit_file', arguments: '{}' };
  return messages
    .slice(result + 1)
    .filter(({ role }) => role === 'user')
    .flatMap((message, index) => {
      const text = separateTypedText(textOf(message)).inserted.join('\n');
      return hasFindings(text) ? [{ callId: `finding-${index}`, text, call }] : [];
    });
}

const saidIn = (turn: DecodedTurn | undefined): string =>
  turn?.reply.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n') ?? '';

/** How often the user had sent the newest message before; undefined when it is new. */
function askedBefore(messages: readonly ChatMessage[]): number | undefined {
  const asked = messages.flatMap((message) => (message.role === 'user' ? [textOf(message).trim()] : []));
  const last = asked.findLast((text) => text !== '');
  const times = last === undefined ? 0 : asked.filter((text) => text === last).length - 1;
  return times > 0 ? times : undefined;
}

/** Whether a later call edits one of the files that this turn tried to edit, and succeeds. */
function isCorrected({ request, reply }: DecodedTurn, later: DecodedTurn | undefined): boolean {
  if (later === undefined) return false;
  const tried = reply.flatMap((part) => (part.type === 'tool-call' ? readCall(part).paths : []));
  return callsIn(later.request.messages.slice(request.messages.length + 1)).some(
    (call) =>
      readCall(call).paths.some((path) => tried.includes(path)) &&
      call.outcome !== undefined &&
      !hasToolFailed(call, call.outcome),
  );
}

interface RecordedCall {
  readonly name: string;
  readonly arguments: string;
  readonly outcome?: ToolOutcome;
}

/** The calls of messages with their results, oldest first; clients without tool messages included. */
function callsIn(messages: readonly ChatMessage[]): readonly RecordedCall[] {
  const outcomes = new Map(
    messages.flatMap((message) => (message.role === 'tool' ? [[message.callId, outcomeOf(message)]] : [])),
  );
  return messages.flatMap((message, index): readonly RecordedCall[] => {
    if (message.role === 'user')
      return resultsIn(messages, index).map(({ call, outcome }) => ({ ...call, outcome }));
    if (message.role !== 'assistant') return [];
    return message.content.flatMap((part) => {
      if (part.type !== 'tool-call') return [];
      const { name, arguments: given, id } = part;
      return [compact({ name, arguments: given, outcome: outcomes.get(id) })];
    });
  });
}

/** The tool results that a user message contains as plain text. */
function resultsIn(messages: readonly ChatMessage[], index: number): ReturnType<typeof readTextResults> {
  const [message, before] = [messages[index], messages[index - 1]];
  if (message?.role !== 'user') return [];
  return readTextResults(textOf(message), before?.role === 'assistant' ? before.content : []);
}

const MOST_ANSWERED = 24;

/** The calls since the user's last message that have a result. */
function answeredCalls(messages: readonly ChatMessage[]): TurnEvidence['answered'] {
  const from = messages.findLastIndex(
    (message, index) =>
      message.role === 'user' &&
      separateTypedText(textOf(message)).typed.trim() !== '' &&
      resultsIn(messages, index).length === 0,
  );
  const calls = callsIn(messages.slice(from + 1)).flatMap(({ name, arguments: given, outcome }) =>
    outcome === undefined ? [] : [{ name, arguments: given, outcome }],
  );
  return calls.length === 0 ? undefined : calls.slice(-MOST_ANSWERED);
}

/** A loop is recent: older results need no mark. */
const MOST_MARKED = 30;
/** Every turn of a session has its own list: with all calls of a thousand turns they would take more than the session itself. */
const MOST_EARLIER = 128;

function earlierCalls(messages: readonly ChatMessage[]): TurnEvidence['earlier'] {
  const calls = callsIn(messages).slice(-MOST_EARLIER);
  return calls.map(({ name, arguments: given, outcome }, index) => ({
    name,
    arguments: given,
    failed: outcome !== undefined && hasToolFailed({ name, arguments: given }, outcome),
    ...(outcome === undefined || index < calls.length - MOST_MARKED
      ? {}
      : { result: resultMark(outcome.text) }),
  }));
}

const outcomeOf = (message: Extract<ChatMessage, { role: 'tool' }>): ToolOutcome =>
  compact({ callId: message.callId, text: textOf(message), isError: message.isError });

const textsOf = ({ content }: ChatMessage): readonly string[] =>
  content.flatMap((part) => (part.type === 'text' ? [part.text] : []));

const textOf = (message: ChatMessage): string => textsOf(message).join('\n');

/** The newest user message with text that is no tool result. A message that the client alone wrote only if there is no other. */
export const taskOf = (messages: readonly ChatMessage[]): string =>
  newestWords(withoutInsertedMessages(messages)) ?? newestWords(messages) ?? '';

/** Whether the agent said something before the newest user message. */
const hasReplied = (messages: readonly ChatMessage[]): boolean => {
  const newest = messages.findLastIndex(
    (message, index) => message.role === 'user' && resultsIn(messages, index).length === 0,
  );
  return messages
    .slice(0, Math.max(0, newest))
    .some((message) => message.role === 'assistant' && textOf(message).trim() !== '');
};

const newestWords = (messages: readonly ChatMessage[]): string | undefined =>
  messages
    .flatMap((message, index) =>
      message.role === 'user' && resultsIn(messages, index).length === 0 ? [textOf(message)] : [],
    )
    .findLast((text) => text.trim() !== '');

/** About how many characters of a conversation the evidence of a turn holds. */
export function evidenceCharacters({ task, reply, earlier, answered, next }: TurnEvidence): number {
  let sum = task.length + (next?.user?.length ?? 0);
  for (const { text } of next?.tools ?? []) sum += text.length;
  for (const { outcome } of answered ?? []) sum += outcome.text.length;
  for (const part of reply) sum += part.type === 'tool-call' ? part.arguments.length : part.text.length;
  // The calls themselves are shared with the request.
  return sum + POINTER * earlier.length;
}

const POINTER = 32;

/** The length of a request's texts. */
export function requestCharacters({ system, messages }: Pick<ChatRequest, 'system' | 'messages'>): number {
  let sum = 0;
  for (const { text } of system) sum += text.length;
  for (const { content } of messages)
    for (const part of content) {
      if (part.type === 'text' || part.type === 'reasoning') sum += part.text.length;
      else sum += part.type === 'tool-call' ? part.arguments.length : part.url.length;
    }
  return sum;
}

/** A tool result that a client sends inside a user message, with the call it belongs to. */
interface TextResult {
  readonly call: { readonly name: string; readonly arguments: string };
  readonly outcome: ToolOutcome;
}

/** `[execute_command for 'npm test'] Result:` (Cline, Roo Code without native tools). */
const HEADED =
  /^\[([a-z]\w{1,60})(?: (?:for|in|to|from|with) ['"](.{0,2000})['"])?[^\]\n]{0,200}\] Result:[ \t]*$/;
/** `EXECUTION RESULT of [execute_bash]:` (OpenHands without native tools). */
const EXECUTED = /^EXECUTION RESULT of \[([a-z]\w{1,60})\]:[ \t]*$/;
/** aider, about a command that the person let it run. */
const RAN = /^\s*I ran this command:\s*\n\n([\s\S]{1,4000}?)\n\nAnd got this output:\s*\n/;
/** aider, about its own edits: SEARCH/REPLACE blocks and unified diffs. */
const EDIT_BLOCKS =
  /^\s*(?:# \d{1,4} SEARCH\/REPLACE blocks? failed to match!|UnifiedDiff(?:NoMatch|NotUnique): hunk failed to apply!)/;
/** aider, about an edit that it made. */
const COMMITTED = /^\s*I (?:committed the changes with git hash [0-9a-f]{6,40}\b|updated the files\.\s*$)/;
/** aider, about what its linter found in an edit. */
const LINTED = /^\s*# Fix any errors below, if possible\.\s*\n/;
/** mini-SWE-agent and SWE-agent. */
const RETURNED = /^\s*<returncode>\s{0,4}-?\d{1,5}\s{0,4}<\/returncode>/;
const OBSERVED = /^\s*(?:OBSERVATION|Observation):[ \t]*\n/;
const CANCELLED = /^\s*The command ['"`][\s\S]{1,2000}?['"`] was cancelled because it took more than \d/;

/** From here on it is the client's: the state of its editor. */
const DETAILS = '<environment_details>';
const LAST_BLOCK = /```(?:bash|sh|shell|mswea_bash_command)?[ \t]*\n([\s\S]{1,8000}?)\n?```/g;
const READ_CAP = 400_000;
const MOST_RESULTS = 32;

/**
 * The tool results in a user message of a client that has no tool messages; empty when the person wrote it. `said` is the reply
 * before it: some clients name the command only there.
 */
export function readTextResults(message: string, said: readonly AssistantPart[] = []): readonly TextResult[] {
  if (message === '' || message.length > READ_CAP) return [];
  const ran = RAN.exec(message);
  if (ran !== null) return [result(0, 'bash', { command: ran[1] ?? '' }, message.slice(ran[0].length))];
  if (COMMITTED.test(message)) return [result(0, 'edit_file', {}, 'Edit applied successfully.')];
  if (LINTED.test(message)) return [result(0, 'bash', { command: 'lint' }, message.replace(LINTED, ''))];
  if (EDIT_BLOCKS.test(message)) return [result(0, 'edit_file', {}, message)];
  if (RETURNED.test(message) || CANCELLED.test(message))
    return [result(0, 'bash', { command: commandIn(said) }, message)];
  const observed = OBSERVED.exec(message);
  if (observed !== null)
    return [result(0, 'bash', { command: commandIn(said) }, message.slice(observed[0].length))];
  return message.includes('] Result:') || message.includes('EXECUTION RESULT of [')
    ? readHeaded(message)
    : [];
}

function readHeaded(message: string): readonly TextResult[] {
  const end = message.indexOf(DETAILS);
  const lines = (end < 0 ? message : message.slice(0, end)).split('\n');
  const heads = lines.flatMap((line, at) => {
    const found = HEADED.exec(line) ?? EXECUTED.exec(line);
    return found === null ? [] : [{ at, name: found[1] ?? '', about: found[2] ?? '' }];
  });
  // The person's own words may quote such a line further down.
  if (heads[0]?.at !== lines.findIndex((line) => line.trim() !== '')) return [];
  return heads.slice(0, MOST_RESULTS).map(({ at, name, about }, index) => {
    const text = lines.slice(at + 1, heads[index + 1]?.at ?? lines.length).join('\n');
    const given = /command|bash|shell/.test(name) ? { command: about } : { path: about };
    return result(index, name, given, text);
  });
}

const result = (index: number, name: string, given: object, text: string): TextResult => {
  const call = { name, arguments: JSON.stringify(given) };
  return { call, outcome: { callId: `text-${index}`, text: text.trim(), call } };
};

/** The command of a reply whose protocol is a fenced block. */
function commandIn(said: readonly AssistantPart[]): string {
  const text = said.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n');
  return [...text.slice(-20_000).matchAll(LAST_BLOCK)].at(-1)?.[1] ?? '';
}
