import type { IncomingMessage } from 'node:http';
import { createFailure, type Failure } from '../core/failure.ts';
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
import type { Records } from '../core/records.ts';
import { StoreError } from '../core/store.ts';

export interface ControlContext {
  readonly records: Records;
  readonly now: () => number;
}

/** One route of the control plane: what it answers, or why not. Whatever it did is durable by then. */
export type Control = (
  context: ControlContext,
  body: JsonObject,
  /** The caller's idempotency key. */
  key?: string,
) => Promise<JsonObject | Failure>;

const LONGEST_NOTE = 4000;
const LONGEST_NAME = 128;
const KIND = /^[a-z][a-z0-9_-]{0,63}$/;

/** A reward from a person, for a turn or for a whole session. */
export const giveFeedback: Control = async ({ records, now }, body, key) => {
  const turn = asString(body.turn);
  const session = asString(body.session);
  const score = asNumber(body.score);
  const note = asString(body.note);
  if ((turn === undefined) === (session === undefined))
    return wrong('Name a turn or a session, one of the two.');
  if (score === undefined || score < -1 || score > 1) return wrong('score must be a number from -1 to 1.');
  if (body.note !== undefined && note === undefined) return wrong('note must be text.');
  if ((note?.length ?? 0) > LONGEST_NOTE) return wrong(`note may have at most ${LONGEST_NOTE} characters.`);
  if (body.source !== undefined && body.source !== 'person' && body.source !== 'agent')
    return wrong('source must be person or agent.');
  const find = async () =>
    turn === undefined
      ? ((await records.session(session ?? '')) ?? (await records.events(session ?? ''))[0])
      : records.turn(turn);
  // Whoever has just got a reply may be quicker than its record: what is appended waits for all that came before it.
  const subject = (await find()) ?? (await records.append([]).then(find));
  if (subject === undefined)
    return createFailure('not-found', `No recorded ${turn ? 'turn' : 'session'} has this id.`);
  const fact = compact({
    type: 'reward-given' as const,
    turn,
    session,
    // What an agent passes on is hearsay: a sign, not a person's own word.
    source: body.source === 'agent' ? ('signal' as const) : ('person' as const),
    score,
    note,
  });
  return appended(
    await records.append([{ at: now(), fact, ...(key === undefined ? {} : { key: `feedback:${key}` }) }]),
  );
};

/** Something an agent or a pipeline reports about itself. */
export const reportEvent: Control = async ({ records, now }, body, key) => {
  const { kind, agent, runKind, session, score, ...data } = body;
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
  const said = {
    agent: asString(agent),
    runKind: asString(runKind),
    session: asString(session),
    score: number,
  };
  const fact = {
    type: 'event-reported' as const,
    kind: name,
    ...compact(said),
    data: data as Record<string, Json>,
  };
  return appended(
    await records.append([{ at: now(), fact, ...(key === undefined ? {} : { key: `event:${key}` }) }]),
  );
};

/** Runs a control; a body that is not an object, or a store that cannot keep it, is an answer too. */
export async function runControl(
  control: Control,
  context: ControlContext,
  bytes: Buffer,
  request: IncomingMessage,
): Promise<JsonObject | Failure> {
  const body = parseJson(bytes.toString('utf8'));
  if (!isObject(body)) return wrong('Send a JSON object.');
  try {
    return await control(context, asObject(body), keyOf(request));
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    const message = `It could not be kept, so nothing was changed: ${error.message}`;
    return createFailure('overloaded', message, { retryAfterMs: 5000 });
  }
}

const wrong = (message: string): Failure => createFailure('bad-request', message);

/** The same key twice is the same action once. */
function keyOf(request: IncomingMessage): string | undefined {
  const key = request.headers['idempotency-key'];
  return typeof key === 'string' && key !== '' ? key.slice(0, 200) : undefined;
}

const appended = (done: readonly { readonly seq: number; readonly isNew: boolean }[]): JsonObject => ({
  ok: true,
  fact: done[0]?.seq ?? 0,
  repeated: done[0]?.isNew === false,
});
