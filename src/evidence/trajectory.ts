import type { AssistantPart, ChatMessage } from '../core/chat.ts';
import type { TurnEvidence } from '../core/evidence.ts';
import type { TrajectoryStep } from '../core/learn.ts';
import { bothEnds, eachLine } from '../text/lines.ts';
import { truncateMiddle } from '../text/truncate.ts';
import { separateTypedText } from '../text/typed-text.ts';
import { oneLine } from '../text/visible-text.ts';
import { digestError } from './digest/digest-error.ts';
import { readCall } from './tools/tool-call.ts';
import { readOutcome } from './tools/tool-outcome.ts';
import { withoutChatWords } from './turn-evidence.ts';
import { originOfResult } from './turn-material.ts';

/** The end of a conversation: what a request sent, the reply, and what followed it. */
export interface ConversationTail {
  readonly messages: readonly ChatMessage[];
  /** How many messages of the conversation come before them. */
  readonly from: number;
  /** Where the turn itself begins among all messages of the conversation: its reply. */
  readonly reply: number;
}

/** The turns that led to an answer are near it; of a longer conversation the rest is not kept. */
const MOST_MESSAGES = 80;

/** The messages are shared with the request. `followed`: the reply, its results and the user's next message. */
export function conversationTail(
  request: readonly ChatMessage[],
  reply: readonly AssistantPart[],
  followed: readonly ChatMessage[] | undefined,
): ConversationTail {
  const all = [
    ...request.slice(-MOST_MESSAGES),
    ...(followed ?? [{ role: 'assistant', content: reply } as const]),
  ];
  const messages = all.slice(-MOST_MESSAGES);
  return {
    messages,
    from: Math.max(0, request.length - MOST_MESSAGES) + all.length - messages.length,
    reply: request.length,
  };
}

export const tailCharacters = ({ messages }: ConversationTail): number => POINTER * messages.length;

const POINTER = 16;

interface StepLimits {
  readonly user: number;
  readonly assistant: number;
  readonly arguments: number;
  readonly failed: number;
  readonly worked: number;
}

/** Of the turn itself more is kept than of those before it. */
const OWN: StepLimits = { user: 3000, assistant: 2000, arguments: 800, failed: 1200, worked: 400 };
const EARLIER: StepLimits = { user: 1200, assistant: 500, arguments: 300, failed: 600, worked: 160 };
const MOST_STEPS = 48;
const MOST_CHARACTERS = 16_000;
const MOST_RESOLVED = 16;
const RESOLVED_CHARACTERS = 6000;

/**
 * The turns that led to an answer and the turn itself, as steps, the oldest first: what the user typed, what the assistant said,
 * its calls with their arguments and results. Results are digested: of an error, its digest and the telling lines. The user's
 * next message is not among them.
 */
export function readTrajectory({ messages, from, reply }: ConversationTail): readonly TrajectoryStep[] {
  const own = Math.max(0, reply - from);
  const isReaction = messages.length > own && messages.at(-1)?.role === 'user';
  return newest(stepsOf(isReaction ? messages.slice(0, -1) : messages, own), MOST_STEPS, MOST_CHARACTERS);
}

/**
 * What was said and done after a turn, up to a later one of its session that went well. Undefined when nothing is known to lie
 * between them.
 */
export function readResolution(
  failed: ConversationTail,
  worked: ConversationTail,
): readonly TrajectoryStep[] | undefined {
  const hasReaction = failed.messages.at(-1)?.role === 'user';
  const end = failed.from + failed.messages.length - (hasReaction ? 1 : 0);
  // A conversation that became shorter was compacted: only the turn itself is known to come later.
  const start = worked.reply >= end ? end : worked.reply;
  const messages = worked.messages.slice(Math.max(0, start - worked.from));
  const isReaction =
    messages.length > 1 &&
    messages.at(-1)?.role === 'user' &&
    worked.reply < worked.from + worked.messages.length - 1;
  const steps = stepsOf(isReaction ? messages.slice(0, -1) : messages, 0);
  return steps.length === 0 ? undefined : newest(steps, MOST_RESOLVED, RESOLVED_CHARACTERS);
}

/** What an agent reported of itself. */
export const readReportedTrajectory = ({ task, attempts }: TurnEvidence): readonly TrajectoryStep[] =>
  newest(
    [
      { kind: 'message', origin: 'tool', text: cut(task, OWN.user) },
      ...attempts.map(
        ({ action, result, ok }): TrajectoryStep => ({
          kind: 'call',
          tool: 'attempt',
          arguments: cut(action, OWN.arguments),
          result: ok ? cut(result, OWN.worked) : tellingLines(result, OWN.failed),
          origin: 'tool',
          isOk: ok,
          digests: ok ? [] : digestError(result),
        }),
      ),
    ],
    MOST_STEPS,
    MOST_CHARACTERS,
  );

function stepsOf(messages: readonly ChatMessage[], own: number): readonly TrajectoryStep[] {
  const steps: TrajectoryStep[] = [];
  const calls = new Map<
    string,
    { readonly at: number; readonly part: ToolCall; readonly limits: StepLimits }
  >();
  const kept = new Set(withoutChatWords(messages));
  for (const [index, message] of messages.entries()) {
    if (!kept.has(message)) continue;
    const limits = index >= own ? OWN : EARLIER;
    if (message.role === 'user') steps.push(...userSteps(textOf(message), limits));
    else if (message.role === 'assistant') {
      for (const part of message.content) {
        if (part.type === 'text' && part.text.trim() !== '')
          steps.push({ kind: 'message', origin: 'assistant', text: cut(part.text, limits.assistant) });
        if (part.type !== 'tool-call') continue;
        calls.set(part.id, { at: steps.length, part, limits });
        steps.push(callStep(part, limits));
      }
    } else if (message.role === 'tool') {
      const call = calls.get(message.callId);
      if (call !== undefined)
        steps[call.at] = withResult(call.part, textOf(message), message.isError, call.limits);
    }
  }
  return steps;
}

type ToolCall = Extract<AssistantPart, { readonly type: 'tool-call' }>;

function userSteps(text: string, limits: StepLimits): readonly TrajectoryStep[] {
  const { typed, inserted, isSummary } = separateTypedText(text);
  if (typed !== '') return [{ kind: 'message', origin: 'user', text: cut(typed, limits.user) }];
  const [first = ''] = inserted;
  if (first.trim() === '') return [];
  return [{ kind: 'message', origin: isSummary ? 'tool' : 'client', text: cut(first, limits.assistant) }];
}

const callStep = (
  part: ToolCall,
  limits: StepLimits,
): Extract<TrajectoryStep, { readonly kind: 'call' }> => ({
  kind: 'call',
  tool: part.name,
  arguments: cut(part.arguments, limits.arguments),
  origin: originOfResult(part),
  digests: [],
});

function withResult(
  part: ToolCall,
  text: string,
  isError: boolean | undefined,
  limits: StepLimits,
): TrajectoryStep {
  const outcome = readOutcome(readCall(part), {
    callId: part.id,
    text,
    ...(isError === undefined ? {} : { isError }),
  });
  const step = callStep(part, limits);
  const { kind } = outcome;
  if (kind === 'ok' || kind === 'green')
    return { ...step, result: cut(outcome.text, limits.worked), isOk: true };
  if (kind === 'unclear') return { ...step, result: cut(outcome.text, limits.worked) };
  return {
    ...step,
    result: tellingLines(outcome.text, limits.failed),
    isOk: false,
    digests: digestError(outcome.text),
  };
}

const MOST_READ = 200_000;
const LONGEST_LINE = 240;
const MOST_TELLING = 10;
const LAST_LINES = 2;
const TELLING =
  /\b\w{0,60}(?:errors?|exception)\b|\b(?:failed|failure|fail|panic|fatal|traceback|cannot|can't|could not|unable|not found|no such|denied|refused|unexpected|expected|received|actual|assert\w*|undefined|unknown|invalid|missing|mismatch|warning|hint|help|did you mean|exit(?:ed)?|abort\w*)\b|^\s*(?:E\s{2,}|[×✗✘●]|\+\s|-\s|>\s)/i;

/** The lines of an output that tell what is wrong, in order, and its last ones. Linear in the text. */
export function tellingLines(text: string, most: number): string {
  if (text.length <= most) return text.trimEnd();
  const told: { readonly at: number; readonly line: string }[] = [];
  const last: { readonly at: number; readonly line: string }[] = [];
  let at = 0;
  eachLine(bothEnds(text, MOST_READ), (line) => {
    at++;
    if (line.trim() === '') return undefined;
    const short = line.length > LONGEST_LINE ? `${line.slice(0, LONGEST_LINE)}…` : line;
    last.push({ at, line: short });
    if (last.length > LAST_LINES) last.shift();
    if (told.length < MOST_TELLING * 4 && TELLING.test(short)) told.push({ at, line: short });
    return undefined;
  });
  const half = Math.ceil(MOST_TELLING / 2);
  const chosen = told.length <= MOST_TELLING ? told : [...told.slice(0, half), ...told.slice(-half)];
  const lines = [...new Map([...chosen, ...last].map((one) => [one.at, one])).values()].sort(
    (a, b) => a.at - b.at,
  );
  return cut(lines.map(({ line }) => line.trimEnd()).join('\n'), most);
}

/** The newest steps within the bounds; the first message of the user is kept, since it is the task. */
function newest(
  steps: readonly TrajectoryStep[],
  most: number,
  characters: number,
): readonly TrajectoryStep[] {
  const first = steps.findIndex((step) => step.kind === 'message' && step.origin === 'user');
  let left = characters - (first < 0 ? 0 : stepCharacters(steps[first]));
  let from = steps.length;
  while (from > 0 && steps.length - from < most) {
    left -= stepCharacters(steps[from - 1]);
    if (left < 0 && from < steps.length) break;
    from--;
  }
  const kept = steps.slice(from);
  const task = steps[first];
  return task === undefined || first >= from ? kept : [task, ...kept];
}

export const stepCharacters = (step: TrajectoryStep | undefined): number => {
  if (step === undefined) return 0;
  if (step.kind === 'message') return step.text.length;
  const digests = step.digests.reduce((sum, digest) => sum + digest.length, 0);
  return step.tool.length + step.arguments.length + (step.result?.length ?? 0) + digests;
};

const textOf = ({ content }: ChatMessage): string =>
  content.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n');

/** The start states the request, the end the result. */
const cut = (text: string, most: number): string =>
  truncateMiddle(text, most, { headShare: 0.5, gap: (left) => `[… ${left} characters …]` });

/** A step in one line, for a prompt. */
export function stepLine(step: TrajectoryStep): string {
  if (step.kind === 'message') return `[${step.origin}] ${step.text}`;
  const outcome = step.isOk === undefined ? '' : step.isOk ? ' → worked' : ' → failed';
  const digests = step.digests.length === 0 ? '' : ` (${oneLine(step.digests.join('; '))})`;
  const result =
    step.result === undefined || step.result.trim() === '' ? '' : `\n[${step.origin}] ${step.result}`;
  return `[assistant] calls ${step.tool}(${step.arguments})${outcome}${digests}${result}`;
}
