import type { Log } from '../base/log.ts';
import { type ChatEvent, totalUsage, type Usage } from '../core/chat.ts';
import { asObject, compact, type Json, parseJson } from '../core/json.ts';
import type { ResponseCheck } from '../core/overlay.ts';
import type { Target } from '../core/upstream.ts';
import type { Wire } from '../core/wire.ts';
import { type AskedForm, readAskedForm } from '../wire/asked-form.ts';
import { createSseDecoder } from '../wire/sse.ts';
import { inflateBytes } from './read-body.ts';
import { schemaFault } from './schema-fault.ts';
import type { PlannedTurn, Turn, UpstreamAttempt } from './turn.ts';

/** The outcome of one check of one reply, for metrics and log. */
export interface CheckedReply {
  readonly turn: string;
  readonly session: string;
  readonly check: ResponseCheck;
  /** `skipped`: the request or the reply could not be read, so the reply was passed on. */
  readonly result: 'passed' | 'failed' | 'skipped';
  /** In names of the tool's schema, never in the reply's own words. */
  readonly why?: string;
  /** Ids of the lessons that ask for checks. */
  readonly overlays: readonly string[];
}

/** The checks of the replies of one turn. */
export interface ReplyCheck {
  /** How often a reply that fails may be asked for again; with 0 no reply is held back, and failures are only counted. */
  readonly reasks: number;
  /** Reports every check of the reply; undefined: it could not be read. Does not throw. */
  passes(reply: readonly ChatEvent[] | undefined): boolean;
}

/** A longer reply is passed on unchecked. */
export const MOST_CHECKED = 1024 * 1024;
const MOST_REASKS = 2;

type CheckedPlan = Pick<PlannedTurn, 'limits' | 'limitedBy'> & {
  readonly turn: Pick<Turn, 'id' | 'session' | 'wire' | 'body' | 'outline'>;
};

/** Undefined where nothing is to be checked: no limit asks for it, or a request asks for no JSON and offers no tools. */
export function createReplyCheck(
  { turn, limits, limitedBy = [] }: CheckedPlan,
  target: Pick<Target, 'label'>,
  report: (reply: CheckedReply) => void = () => undefined,
): ReplyCheck | undefined {
  const { id, session, wire, body, outline } = turn;
  const checks = limits?.checks;
  if (checks === undefined || body === undefined || outline === undefined) return undefined;
  const tell = (check: ResponseCheck, result: CheckedReply['result'], why?: string): void =>
    report(compact({ turn: id, session: session.session, check, result, why, overlays: limitedBy }));
  const form = readAskedForm(wire, body, outline);
  if (form === undefined) {
    for (const check of checks) tell(check, 'skipped', 'the form that the request asks for cannot be read');
    return undefined;
  }
  const asked = checks.filter((check) => (check === 'json' ? asksForJson(form) : form.tools.length > 0));
  if (asked.length === 0) return undefined;
  return {
    // A policy is trained on what it wrote: choosing among its replies would bias it.
    reasks: target.label === undefined ? Math.min(MOST_REASKS, limits?.reasks ?? 1) : 0,
    passes: (events) => {
      let isGood = true;
      const reply = events && readReplyParts(events);
      for (const check of asked) {
        const fault = reply === undefined ? undefined : FAULTS[check](reply, form);
        if (reply === undefined) tell(check, 'skipped', 'the reply cannot be read');
        else if (fault !== NOT_CHECKED) tell(check, fault === undefined ? 'passed' : 'failed', fault);
        if (fault !== undefined && fault !== NOT_CHECKED) isGood = false;
      }
      return isGood;
    },
  };
}

const asksForJson = ({ format, toolChoice }: AskedForm): boolean =>
  format !== undefined || toolChoice === 'required' || typeof toolChoice === 'object';

interface ReplyParts {
  readonly text: string;
  readonly calls: readonly { readonly name: string; readonly json: string }[];
}

function readReplyParts(events: readonly ChatEvent[]): ReplyParts {
  let text = '';
  const calls = new Map<string, { readonly name: string; json: string }>();
  for (const event of events) {
    if (event.type === 'text-delta') text += event.text;
    else if (event.type === 'tool-start') calls.set(event.id, { name: event.name, json: '' });
    else if (event.type === 'tool-delta') {
      const call = calls.get(event.id);
      if (call !== undefined) call.json += event.json;
    }
  }
  return { text, calls: [...calls.values()] };
}

/** The reply has nothing that the check is about. */
const NOT_CHECKED = '';
type FindFault = (reply: ReplyParts, form: AskedForm) => string | undefined;

const FAULTS: Readonly<Record<ResponseCheck, FindFault>> = {
  json: ({ text, calls }, { format, toolChoice }) => {
    if (calls.length > 0) {
      const isNamed = typeof toolChoice !== 'object' || calls.some(({ name }) => name === toolChoice.name);
      if (!isNamed) return 'it calls another tool than the one that the request forces';
      if (toolChoice !== 'required' && typeof toolChoice !== 'object') return NOT_CHECKED;
      return calls.some(({ json }) => argumentsOf(json) === undefined)
        ? 'the arguments of a forced call are not JSON'
        : undefined;
    }
    if (format === undefined) return 'it calls no tool although the request forces a call';
    const value = parseJson(text);
    if (value === undefined) return 'it is not JSON';
    return format.type === 'json-schema' ? schemaFault(value, format.schema) : undefined;
  },
  'tool-arguments': ({ calls }, { tools }) => {
    // Other names are tools of the provider.
    const offered = calls.flatMap(({ name, json }) => {
      const tool = tools.find((one) => one.name === name);
      return tool === undefined ? [] : [{ tool, value: argumentsOf(json) }];
    });
    if (offered.length === 0) return NOT_CHECKED;
    for (const { tool, value } of offered) {
      const fault = value === undefined ? 'it is not JSON' : schemaFault(value, tool.parameters);
      if (fault !== undefined) return `arguments: ${fault}`;
    }
    return undefined;
  },
};

/** Many providers write nothing where a tool has no arguments. */
const argumentsOf = (json: string): Json | undefined => (json.trim() === '' ? {} : parseJson(json));

/** A reply's bytes as a provider sent them. */
export interface ReplyBytes {
  readonly bytes: Buffer;
  readonly type: string;
  readonly encoding: string | undefined;
}

/** Undefined when the bytes are in an encoding that cannot be read here. Does not reject. */
export async function readReplyBytes(
  wire: Wire,
  { bytes, type, encoding }: ReplyBytes,
): Promise<readonly ChatEvent[] | undefined> {
  const plain = encoding === undefined ? bytes : await inflateBytes(bytes, encoding, MOST_CHECKED * 4);
  if (plain === undefined) return undefined;
  if (!isEventStream(type)) return wire.decodeReply(asObject(parseJson(plain.toString('utf8'))));
  const decoder = wire.createStreamDecoder();
  const events = createSseDecoder().push(plain);
  return [...events.flatMap((event) => decoder.decode(event)), ...decoder.end()];
}

export const isEventStream = (type: string): boolean => type.toLowerCase().startsWith('text/event-stream');

/** A whole reply of which the client has nothing yet. */
export interface HeldReply {
  readonly kind: 'held';
  readonly events: readonly ChatEvent[] | undefined;
  send(): UpstreamAttempt;
}

/**
 * Asks until a reply passes the checks, or may not be asked for again. The client gets the last reply that there was, whatever the
 * checks say of it; a failure of a further try does not replace a reply.
 */
export async function askUntilPassed(
  { disconnect }: Turn,
  check: ReplyCheck,
  ask: () => Promise<UpstreamAttempt | HeldReply>,
): Promise<UpstreamAttempt> {
  let held: HeldReply | undefined;
  let usage: Usage | undefined;
  const settle = (attempt: UpstreamAttempt, times: number): UpstreamAttempt =>
    times === 0 || attempt.kind === 'failed'
      ? attempt
      : { ...attempt, reasked: usage === undefined ? { times } : { times, usage } };
  for (let times = 0; ; times++) {
    const answer = await ask();
    if (answer.kind === 'failed' && held !== undefined) return settle(held.send(), times);
    usage = addUsage(usage, held?.events);
    if (answer.kind !== 'held') return settle(answer, times);
    held = answer;
    if (check.passes(answer.events) || times >= check.reasks || disconnect.isGone)
      return settle(answer.send(), times);
  }
}

function addUsage(sum: Usage | undefined, events: readonly ChatEvent[] | undefined): Usage | undefined {
  const end = events?.at(-1);
  const more = end?.type === 'reply-end' ? end.usage : undefined;
  return more === undefined ? sum : totalUsage(sum, more);
}

/** For the log and the metrics of a daemon. */
export const reportChecks =
  (metrics: { checked(reply: CheckedReply): void }, log: Log) =>
  (reply: CheckedReply): void => {
    metrics.checked(reply);
    if (reply.result !== 'passed') log.info(reply, `a reply’s check ${reply.result}`);
  };
