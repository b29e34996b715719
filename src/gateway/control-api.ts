import type { IncomingMessage } from 'node:http';
import { type Caller, mayReportOn, sessionIdFor } from '../core/caller.ts';
import { BY_PERSON, EXPECTED_EVENT } from '../core/fact.ts';
import { createFailure, type Refused, refused } from '../core/failure.ts';
import {
  asNumber,
  asObject,
  asString,
  compact,
  isObject,
  type Json,
  type JsonObject,
  parseJson,
} from '../core/json.ts';
import { isMemberId } from '../core/member.ts';
import { principalOfSession, standsForItself } from '../core/principal.ts';
import type { Records, TurnView } from '../core/store.ts';
import { StoreError } from '../core/store.ts';
import { toCallerId } from './client-clues.ts';
import type { AgentsOfKeys } from './identify.ts';

export interface ControlContext {
  readonly records: Records;
  readonly now: () => number;
  /** The agents that keys speak for; absent where nobody but the owner reports. */
  readonly agents?: AgentsOfKeys;
  /** The end user whom the request is about. */
  readonly person?: string;
  /** The project of the folder and repository that a plugin tells of. */
  readonly projectReported?: (stated: string, repository: JsonObject) => string;
}

/** One action of the control plane. Its effect is durable before it returns. */
export type ControlAction = (
  context: ControlContext,
  body: JsonObject,
  caller: Caller,
  /** The idempotency key of the request. */
  key?: string,
) => Promise<ControlEnd>;

export type ControlEnd = { readonly ok: true; readonly answer: JsonObject } | Refused;

const LONGEST_NOTE = 4000;
const LONGEST_NAME = 128;
const KIND = /^[a-z][a-z0-9_-]{0,63}$/;

/**
 * A reward for a turn or for a whole session. From the owner, or from an application that may pass its users' ratings on,
 * it is a person's word; from any other caller it is the agent's, about its own turns only.
 */
export const giveFeedback: ControlAction = async ({ records, now, person }, body, caller, key) => {
  const turn = asString(body.turn);
  const session = await ownSession(caller, body.session, person, records);
  const score = asNumber(body.score);
  const note = asString(body.note);
  if ((turn === undefined) === (session === undefined)) return wrong('Name either a turn or a session.');
  if (score === undefined || score < -1 || score > 1) return wrong('score must be a number from -1 to 1.');
  if (body.note !== undefined && note === undefined) return wrong('note must be text.');
  if ((note?.length ?? 0) > LONGEST_NOTE) return wrong(`note may have at most ${LONGEST_NOTE} characters.`);
  if (body.source !== undefined && body.source !== 'person' && body.source !== 'agent')
    return wrong('source must be person or agent.');
  const find = async () =>
    turn === undefined
      ? ((await records.session(session ?? '')) ?? (await records.events(session ?? ''))[0])
      : records.turn(turn);
  // Feedback may arrive before its turn is recorded: an append waits for all earlier ones, so look again after one.
  const subject = (await find()) ?? (await records.append([]).then(find));
  if (subject === undefined)
    return refused(createFailure('not-found', `No recorded ${turn ? 'turn' : 'session'} has this id.`));
  const madeBy = 'caller' in subject ? subject.caller : await callerOfSession(session, records);
  const of = 'session' in subject ? subject.session : (session ?? '');
  if (!mayReportOn(caller, of, madeBy))
    return refused(
      createFailure('forbidden', `This ${turn ? 'turn' : 'session'} was made with another key.`),
    );
  const isPerson = caller.mayRate && body.source !== 'agent';
  const fact = compact({
    type: 'reward-given' as const,
    turn,
    session,
    source: isPerson ? ('person' as const) : ('agent' as const),
    score,
    note,
    by: caller.id,
  });
  return appended(await records.append([{ at: now(), fact, ...callerKey('feedback', key) }]));
};

/** The session that a caller names. Records of earlier versions have the caller's name alone. */
async function ownSession(
  caller: Caller,
  named: Json | undefined,
  person: string | undefined,
  records: Records,
): Promise<string | undefined> {
  const id = asString(named);
  if (id === undefined) return undefined;
  if (caller.kind === 'owner') return findNamed(id, records);
  const own = sessionIdFor(caller, id, person);
  if (own === id || person !== undefined || (await records.session(own)) !== undefined) return own;
  const before = await callerOfSession(id, records);
  return before === caller.id ? id : own;
}

/** Whose session it is: by its first turn, or, for an episode without turns, by its first event. Undefined in earlier versions. */
async function callerOfSession(session: string | undefined, records: Records): Promise<string | undefined> {
  if (session === undefined) return undefined;
  const [turn] = await records.turns(session);
  if (turn !== undefined) return turn.caller;
  const [event] = await records.events(session);
  return event?.fact.type === 'event-reported' ? event.fact.by : undefined;
}

/** An event that an agent or a pipeline reports about itself. */
export const reportEvent: ControlAction = async (context, body, caller, key) => {
  const { records, now } = context;
  const { kind, agent, runKind, session, score, [BY_PERSON]: byPerson, ...said } = body;
  const data = withReportedProject(said, caller, context.projectReported);
  const name = asString(kind);
  if (name === undefined || !KIND.test(name)) return wrong('kind must be a name such as tool_sequence.');
  for (const [field, value] of Object.entries({ agent, runKind, session })) {
    if (value !== undefined && (typeof value !== 'string' || value.length > LONGEST_NAME)) {
      return wrong(`${field} must be text of at most ${LONGEST_NAME} characters.`);
    }
  }
  const number = asNumber(score);
  if (score !== undefined && (number === undefined || number < 0 || number > 100)) {
    return wrong('score must be a number from 0 to 100.');
  }
  const fault = name === EXPECTED_EVENT ? findExpectedFault(body, caller) : undefined;
  if (fault !== undefined) return fault;
  const own = await ownSession(caller, session, context.person, records);
  const answered =
    name === EXPECTED_EVENT ? await findAnswered(asString(body.turn), own, records) : undefined;
  if (name === EXPECTED_EVENT && answered === undefined)
    return refused(createFailure('not-found', 'No recorded turn or session has this id.'));
  const subject = answered?.session ?? own;
  const madeBy = await callerOfSession(subject, records);
  if (subject !== undefined && !mayReportOn(caller, subject, madeBy))
    return refused(createFailure('forbidden', 'This session was made with another key.'));
  const named = toCallerId(asString(agent)) ?? (await agentOfSession(subject, records));
  const bound = bindReporter(context, caller, named);
  const fields = {
    agent: bound,
    runKind: toCallerId(asString(runKind)),
    session: subject,
    score: number,
    // Without a session it is about the end user whom the request names, if it names one.
    member: principalOfSession(subject ?? sessionIdFor(caller, '', context.person)) ?? caller.member,
  };
  const fact = {
    type: 'event-reported' as const,
    kind: name,
    ...compact(fields),
    data: {
      ...withPlainNames(data as Record<string, Json>),
      ...(bound === named ? {} : { claimedAgent: named }),
      ...(answered === undefined ? {} : { turn: answered.id }),
      ...(byPerson === true && caller.mayRate ? { [BY_PERSON]: true } : {}),
    },
    by: caller.id,
  };
  return appended(await records.append([{ at: now(), fact, ...callerKey('event', key) }]));
};

/** The owner may name a session of any key as its client does, where only one has the name. */
async function findNamed(id: string, records: Records): Promise<string> {
  if ((await records.session(id)) !== undefined || (await records.events(id)).length > 0) return id;
  const named = await records.ids('sessions', { beginning: '', end: `:${id}` }, 2);
  return named.length === 1 ? (named[0] ?? id) : id;
}

/** What is reported within a session is about its agent; within an episode, about the one that began it. */
async function agentOfSession(session: string | undefined, records: Records): Promise<string | undefined> {
  if (session === undefined) return undefined;
  const [event] = await records.events(session);
  const begun = event?.fact.type === 'event-reported' ? event.fact.agent : undefined;
  return begun ?? (await records.session(session))?.agent;
}

/** The agent that an event is about: one of the key's own, whatever it names. */
function bindReporter(
  { agents }: ControlContext,
  caller: Caller,
  named: string | undefined,
): string | undefined {
  if (caller.kind !== 'caller' || agents === undefined || isMemberId(caller.member ?? '')) return named;
  return named === undefined ? agents.ownAgent(caller.id) : agents.agentOf(caller.id, named, false);
}

/** What a plugin says with the project of its repository. What an application says of folders is no place of ours. */
export function withReportedProject(
  { repository, ...body }: JsonObject,
  caller: Caller,
  projectReported: ControlContext['projectReported'],
): JsonObject {
  const stated = asString(body.project);
  if (!isObject(repository) || stated === undefined || projectReported === undefined) return body;
  if (standsForItself(caller.tag ?? '')) return body;
  return { ...body, project: projectReported(stated, repository) };
}

/** Names that become part of a lesson's scope have no characters of patterns. */
function withPlainNames(data: Readonly<Record<string, Json>>): Record<string, Json> {
  const plain: Record<string, Json> = { ...data };
  for (const field of ['project', 'domain']) {
    const name = toCallerId(asString(data[field]));
    if (name !== undefined) plain[field] = name;
  }
  return plain;
}

/**
 * The right answer to a turn, or to the last turn of a session, for the verifiers `exact` and `number`. It decides a reward
 * that counts as a person's does, so that only the owner and applications that may rate give it: an agent that named the
 * right answers would grade itself.
 */
function findExpectedFault(body: JsonObject, caller: Caller): Refused | undefined {
  const list = Array.isArray(body.expected) ? body.expected : [body.expected];
  const isAnswer = (one: unknown): boolean =>
    typeof one === 'number' || (typeof one === 'string' && one.length <= LONGEST_NOTE);
  if (list.length === 0 || !list.every(isAnswer))
    return wrong(
      'expected must be a text, a number, or a list of them; it is the right answer to the turn or session.',
    );
  if ((asString(body.turn) === undefined) === (asString(body.session) === undefined))
    return wrong('Name either a turn or a session.');
  if (caller.mayRate) return undefined;
  return refused(
    createFailure(
      'forbidden',
      'This key may not name right answers. Use the owner key, or a key made with: instar team keys create NAME --may feedback',
    ),
  );
}

/** The named turn, or the last turn of the named session. */
async function findAnswered(
  turn: string | undefined,
  session: string | undefined,
  records: Records,
): Promise<TurnView | undefined> {
  const find = async (): Promise<TurnView | undefined> =>
    turn === undefined
      ? (await records.turns(session ?? '')).findLast(({ role }) => role === 'main')
      : records.turn(turn);
  // An append waits for all earlier ones: a turn that is not recorded yet is there after one.
  return (await find()) ?? records.append([]).then(find);
}

/** Runs a control action. A body that is not an object and a store that cannot write become a Failure. */
export async function runControlAction(
  control: ControlAction,
  context: ControlContext,
  caller: Caller,
  { request, bytes }: { readonly request: IncomingMessage; readonly bytes: Buffer },
): Promise<ControlEnd> {
  const body = parseJson(bytes.toString('utf8'));
  if (!isObject(body)) return wrong('Send a JSON object.');
  try {
    return await control(context, asObject(body), caller, keyOf(request));
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    const message =
      error.code === 'unclear'
        ? `The store failed: ${error.message}`
        : `Nothing was saved, because the store failed: ${error.message}`;
    return refused(createFailure('overloaded', message, { retryAfterMs: 5000 }));
  }
}

const wrong = (message: string): Refused => refused(createFailure('bad-request', message));

/** The idempotency key: an action that is sent twice with one key happens once. */
function keyOf(request: IncomingMessage): string | undefined {
  const key = request.headers['idempotency-key'];
  return typeof key === 'string' && key !== '' ? key.slice(0, 200) : undefined;
}

const callerKey = (purpose: string, text: string | undefined) =>
  text === undefined ? {} : { callerKey: { purpose, text } };

const appended = (done: readonly { readonly seq: number; readonly isNew: boolean }[]): ControlEnd => ({
  ok: true,
  answer: { ok: true, fact: done[0]?.seq ?? 0, repeated: done[0]?.isNew === false },
});
