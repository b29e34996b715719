import { hash } from 'node:crypto';
import { bindStep, type FlowCall, type FlowValues, instantiateStep } from '../base/flow-calls.ts';
import type { Log } from '../base/log.ts';
import { createLruMap } from '../base/lru-map.ts';
import type { ChatMessage, ChatRequest, ToolCallPart } from '../core/chat.ts';
import { asObject, isObject, parseJson } from '../core/json.ts';
import type { ActiveOverlay, FlowAnswer, FlowOverlay } from '../core/overlay.ts';
import type { Outline, Wire } from '../core/wire.ts';

interface AnswerFlowsOptions {
  /** `gateway.flows`. */
  readonly isOn: () => boolean;
  /** Whether a call succeeded, according to its result. */
  readonly hasSucceeded: (
    call: Pick<ToolCallPart, 'name' | 'arguments'>,
    outcome: { readonly callId: string; readonly text: string; readonly isError?: boolean },
  ) => boolean;
  readonly log: Log;
}

/** The part of a turn that decides it. */
interface FlowTurn {
  readonly session: { readonly session: string };
  readonly wire: Wire;
  readonly body: Buffer | undefined;
  readonly outline: Outline | undefined;
}

/** Gives the next call of a flow that the conversation is in; undefined: the model answers. Never throws. */
export type AnswerFlows = (
  turn: FlowTurn,
  flows: readonly ActiveOverlay<FlowOverlay>[],
) => FlowAnswer | undefined;

/** As many calls of a flow have been made before Instar makes the next. */
const FEWEST_MADE = 2;
const MOST_SESSIONS = 5_000;

/** What a session was answered, or that it has left the flow. */
interface FlowTrace {
  /** The id of the flow's first call in the conversation. */
  readonly first: string;
  /** Of the calls and results that the last answer rested on; undefined: the session has left the flow. */
  readonly digest: string | undefined;
  readonly made: number;
}

/**
 * Continues flows without a model. A conversation is in a flow when its last calls, two and more since the user's last message, are
 * the flow's first ones, all with success, and the parameters have one value each. It leaves at the first deviation: a call that
 * failed, another call, a message of the user, an earlier result that is another now, a tool that is not offered, a parameter
 * without a value, two flows that go on differently.
 */
export function createAnswerFlows({ isOn, hasSucceeded, log }: AnswerFlowsOptions): AnswerFlows {
  const traces = createLruMap<string, FlowTrace>(MOST_SESSIONS);
  const answer: AnswerFlows = ({ session: { session }, wire, body, outline }, flows) => {
    if (!isOn() || body === undefined || outline === undefined || !mayBeInFlow(body, outline, flows))
      return undefined;
    const request = decode(wire, body, outline);
    if (request === undefined) return undefined;
    const made = callsSinceUser(request.messages);
    if (made === undefined || made.length < FEWEST_MADE) return undefined;
    const found = findContinuation(flows, made, hasSucceeded);
    if (found === undefined || !isOffered(found.call.tool, request)) return undefined;
    const used = made.slice(-found.made);
    const [first] = used;
    if (first === undefined) return undefined;
    const before = traces.get(session);
    if (before?.first === first.part.id) {
      if (before.digest === undefined) return undefined;
      if (before.digest !== digestOf(used.slice(0, before.made))) {
        traces.set(session, { ...before, digest: undefined });
        return undefined;
      }
    }
    traces.set(session, { first: first.part.id, digest: digestOf(used), made: used.length });
    const { name, payload } = found.flow;
    return { flow: name, step: found.made + 1, of: payload.steps.length, ...found.call };
  };
  return (turn, flows) => {
    try {
      return answer(turn, flows);
    } catch (error) {
      log.warn({ err: error }, 'a flow could not be continued: the model answers');
      return undefined;
    }
  };
}

/**
 * Looks at the last messages alone, three at most: a result is the last of them, and the call before it is one of a flow's. Nearly
 * every other request is ruled out before anything is parsed.
 */
function mayBeInFlow(body: Buffer, outline: Outline, flows: readonly ActiveOverlay<FlowOverlay>[]): boolean {
  const newest = outline.newest();
  const [last] = newest;
  const from = newest.at(-1);
  if (last === undefined || from === undefined) return false;
  const [, end = body.length] = outline.member('messages') ?? outline.member('input') ?? [];
  const textFrom = (at: number): string => body.toString('latin1', at, Math.min(end, at + MOST_READ));
  if (!RESULT.test(textFrom(last))) return false;
  const tail = textFrom(from);
  // After several calls at once their message may be further back.
  if (end - from > MOST_READ || !CALL.test(tail)) return true;
  return flows.some(({ payload }) => payload.steps.some(({ tool }) => tail.includes(`"${tool}"`)));
}
const MOST_READ = 64 * 1024;
const RESULT = /"(?:tool|tool_result|function_call_output|custom_tool_call_output|function)"/;
const CALL = /"(?:tool_calls|tool_use|function_call)"/;

/**
 * Undefined for what the wire forbids, and for a request whose earlier messages the provider keeps. A model that thinks before its
 * calls must be shown its thoughts again, and a flow has none.
 */
function decode(wire: Wire, body: Buffer, outline: Outline): ChatRequest | undefined {
  if (outline.member('previous_response_id') !== undefined || outline.member('conversation') !== undefined)
    return undefined;
  const thinking = outline.member('thinking');
  if (thinking !== undefined) {
    const { type } = asObject(parseJson(body.toString('utf8', ...thinking)));
    if (type !== 'disabled') return undefined;
  }
  const value = parseJson(body.toString('utf8'));
  return isObject(value) ? wire.decodeRequest(value) : undefined;
}

/** A call of the conversation with its result. */
interface MadeCall {
  readonly part: ToolCallPart;
  readonly call: FlowCall | undefined;
  readonly result: { readonly callId: string; readonly text: string; readonly isError?: boolean };
}

/** The calls since the user's last message; undefined unless all have one result, and the last message is one. */
function callsSinceUser(messages: readonly ChatMessage[]): readonly MadeCall[] | undefined {
  if (messages.at(-1)?.role !== 'tool') return undefined;
  const from = messages.findLastIndex(({ role }) => role === 'user' || role === 'system');
  const results = new Map<string, MadeCall['result']>();
  const parts: ToolCallPart[] = [];
  for (const message of messages.slice(from + 1)) {
    if (message.role === 'tool') {
      // Pictures and files cannot be judged.
      if (results.has(message.callId) || message.content.some(({ type }) => type !== 'text'))
        return undefined;
      const text = message.content.map((part) => (part.type === 'text' ? part.text : '')).join('\n');
      const { callId, isError } = message;
      results.set(callId, isError === undefined ? { callId, text } : { callId, text, isError });
    } else for (const part of message.content) if (part.type === 'tool-call') parts.push(part);
  }
  const made = parts.flatMap((part) => {
    const result = results.get(part.id);
    return result === undefined ? [] : [{ part, result, call: readCall(part) }];
  });
  return made.length === parts.length && results.size === parts.length ? made : undefined;
}

function readCall({ name, arguments: text }: ToolCallPart): FlowCall | undefined {
  const value = text.trim() === '' ? {} : parseJson(text);
  return isObject(value) ? { tool: name, arguments: value } : undefined;
}

interface Continuation {
  readonly flow: ActiveOverlay<FlowOverlay>;
  /** How many of its calls have been made. */
  readonly made: number;
  readonly call: FlowCall;
}

/** The flow that most of the last calls belong to. Undefined when two go on differently. */
function findContinuation(
  flows: readonly ActiveOverlay<FlowOverlay>[],
  made: readonly MadeCall[],
  hasSucceeded: AnswerFlowsOptions['hasSucceeded'],
): Continuation | undefined {
  const found = flows.flatMap((flow) => continueFlow(flow, made, hasSucceeded) ?? []);
  const most = Math.max(0, ...found.map((one) => one.made));
  const best = found.filter((one) => one.made === most);
  const [first, ...others] = best;
  const isOne = others.every(({ call }) => JSON.stringify(call) === JSON.stringify(first?.call));
  return isOne ? first : undefined;
}

function continueFlow(
  flow: ActiveOverlay<FlowOverlay>,
  calls: readonly MadeCall[],
  hasSucceeded: AnswerFlowsOptions['hasSucceeded'],
): Continuation | undefined {
  const { payload } = flow;
  for (let made = Math.min(calls.length, payload.steps.length - 1); made >= FEWEST_MADE; made--) {
    const used = calls.slice(-made);
    const values = bindCalls(payload, used);
    const next = payload.steps[made];
    if (values === undefined || next === undefined) continue;
    if (!used.every(({ part, result }) => hasSucceeded(part, result))) continue;
    const call = instantiateStep(payload, next, values);
    return call === undefined ? undefined : { flow, made, call };
  }
  return undefined;
}

function bindCalls(payload: FlowOverlay, made: readonly MadeCall[]): FlowValues | undefined {
  let values: FlowValues | undefined = new Map();
  for (const [at, { call }] of made.entries()) {
    const step = payload.steps[at];
    if (step === undefined || call === undefined || values === undefined) return undefined;
    values = bindStep(payload, step, call, values);
  }
  return values;
}

function isOffered(tool: string, { tools, toolChoice }: ChatRequest): boolean {
  if (toolChoice === 'none' || (typeof toolChoice === 'object' && toolChoice.name !== tool)) return false;
  return tools.some(({ name }) => name === tool);
}

const digestOf = (made: readonly MadeCall[]): string =>
  hash(
    'sha256',
    JSON.stringify(made.map(({ part, result }) => [part.id, part.name, part.arguments, result])),
  );
