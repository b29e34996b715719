import { ANONYMOUS, type Caller, mayReportOn } from '../core/caller.ts';
import type { ChatEvent } from '../core/chat.ts';
import type { ChatCommandRequest } from '../core/chat-command.ts';
import type { TurnStatus } from '../core/evidence.ts';
import { type Refused, refused } from '../core/failure.ts';
import { asObject, compact, parseJson } from '../core/json.ts';
import { placeOfSession, UNKNOWN_AGENT } from '../core/principal.ts';
import { StoreError, type TurnView } from '../core/store.ts';
import type { ChatWord } from '../text/chat-word.ts';
import { truncateEnd } from '../text/truncate.ts';
import { oneLine } from '../text/visible-text.ts';
import { ANY_MODEL, type GatewayContext } from './context.ts';
import { sendFailure } from './error-reply.ts';
import type { FoundChatWord } from './find-chat-word.ts';
import type { Identity } from './identify.ts';
import type { ChatWordEnd, Turn } from './turn.ts';

interface WordAnswer {
  readonly end: ChatWordEnd;
  readonly text: string;
  /** The turn that was rated. */
  readonly turn?: string;
}

type Rating = Extract<ChatWord, { readonly kind: 'rating' }>;

/**
 * Answers a word to Instar in the caller's format; no provider is called. It is recorded as the chat's word about the newest
 * answer of the same session, and durable before the answer says so. Only the caller that made the session may rate it.
 */
export async function answerChatWord(
  context: GatewayContext,
  turn: Turn,
  found: FoundChatWord,
): Promise<ChatWordEnd> {
  const access = callerOf(context, turn);
  if (!access.ok) {
    sendFailure(turn.response, turn.wire, access.why);
    return 'refused';
  }
  const answer = await rate(context, turn, found, access.caller);
  send(turn, answer, context.newId(REPLY_ID_PREFIXES[turn.wire.name]));
  if (turn.identity.sessionDone && answer.end === 'saved') context.sessionEnded(turn.session.session);
  return answer.end;
}

type Access = { readonly ok: true; readonly caller: Caller } | Refused;

/**
 * A caller with its own credential is known by it. Nobody has checked that credential for this request; but only with one that
 * a provider accepted can a turn have been recorded under its id.
 */
function callerOf(
  { catalogue, authorize }: GatewayContext,
  { caller, credential, request, wire, outline }: Turn,
): Access {
  const [target] = catalogue.resolve(outline === undefined ? ANY_MODEL : outline.model, wire.name);
  if (target === undefined) return { ok: true, caller: caller ?? ANONYMOUS };
  const admittance = authorize.forTarget(request, target, caller);
  if (!admittance.ok) return refused(admittance.failure);
  return { ok: true, caller: caller ?? (admittance.isOwnCredential ? credential : undefined) ?? ANONYMOUS };
}

async function rate(
  { records, clock, chatCommand }: GatewayContext,
  { session: { session }, identity }: Turn,
  { word, about }: FoundChatWord,
  caller: Caller,
): Promise<WordAnswer> {
  if (word.kind === 'help') return { end: 'help', text: HELP };
  if (caller.kind === 'anonymous') return notSaved(NO_KEY);
  if (!identity.record) return notSaved(RECORDING_OFF);
  try {
    // The answer may still be on its way into the record: an append waits for everything before it.
    await records.append([]);
    const rated = (await records.turns(session)).findLast(isAnswer);
    if (word.kind === 'command') {
      const isOwn = rated !== undefined && mayReportOn(caller, session, rated.caller);
      const answered = isOwn ? rated.id : undefined;
      const asker = askerOf(session, identity);
      const { text, isDone } = await chatCommand({ caller, command: word.command, answered, asker });
      return { end: isDone ? 'done' : 'told', text };
    }
    if (rated === undefined) return { end: 'nothing-to-rate', text: NOTHING_TO_RATE };
    if (!mayReportOn(caller, session, rated.caller)) return notSaved(OTHER_KEY);
    const { score, note } = word;
    const fact = compact({
      type: 'reward-given' as const,
      turn: rated.id,
      source: 'chat' as const,
      score,
      note,
      by: caller.id,
    });
    // A client that repeats its request says the word once.
    const key = JSON.stringify([caller.id, rated.id, score, note ?? '']);
    await records.append([{ at: clock.now(), fact, callerKey: { purpose: 'chat-word', text: key } }]);
    return { end: 'saved', text: saved(word, about), turn: rated.id };
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    return notSaved(`the store failed: ${error.message}. Say it again later, or see: instar doctor`);
  }
}

/** As lessons are recalled for the turns of the session. */
const askerOf = (
  session: string,
  { agent, client, project }: Pick<Identity, 'agent' | 'client' | 'project'>,
): ChatCommandRequest['asker'] => ({
  session,
  ...placeOfSession(session, { project: project?.id }),
  agent: agent ?? client ?? UNKNOWN_AGENT,
});

/** The user's agent has said something in it. */
const ANSWERED: ReadonlySet<TurnStatus> = new Set(['complete', 'client-abort', 'truncated']);
const isAnswer = ({ role, status }: TurnView): boolean =>
  role === 'main' && (status === undefined || ANSWERED.has(status));

const LONGEST_ABOUT = 60;

/** `Saved: bad, "use ISO dates" (about: “write the export …”).` */
function saved({ score, note }: Rating, about: string | undefined): string {
  const verdict = score === 1 ? ['good'] : score === -1 ? ['bad'] : [];
  const said = [...verdict, ...(note === undefined ? [] : [`"${oneLine(note)}"`])].join(', ');
  const asked = about === undefined ? '' : truncateEnd(oneLine(about), LONGEST_ABOUT).trim();
  return asked === '' ? `Saved: ${said}.` : `Saved: ${said} (about: “${asked}”).`;
}

const notSaved = (why: string): WordAnswer => ({ end: 'not-saved', text: `Not saved: ${why}.` });

const NO_KEY =
  'this client sends no key of Instar, and nothing is recorded of callers that are not known. Give it one with: instar connect CLIENT --write, or: instar team keys create NAME';
const RECORDING_OFF =
  'this client turns recording off with the header x-instar-record. Rate answers without it';
const OTHER_KEY =
  'the last answer of this session was given to another key. Rate it with the key it was given to, or with: instar feedback last';
const NOTHING_TO_RATE =
  'There is nothing to rate yet: Instar has recorded no answer in this session. Ask something first, then rate the answer.';
const HELP = `Rate the last answer of this chat with one of these messages:

- instar: good
- instar: bad
- instar: bad, use ISO dates
- instar: use ISO dates

Or ask:

- instar: list (what you taught)
- instar: why (what the last answer was shown)
- instar: undo (take back the last thing learned)
- instar: forget … (take back the one that you name)
- instar: what did I say about the parcel? (any question: what you said in earlier conversations)

Instar saves what you say and learns from it. It answers such a message itself; no model is asked.`;

/** How each format's ids begin. */
export const REPLY_ID_PREFIXES = {
  'openai-chat': 'chatcmpl',
  'openai-responses': 'resp',
  anthropic: 'msg',
} as const;

function send(
  { wire, response, outline, body, session, disconnect }: Turn,
  answer: WordAnswer,
  id: string,
): void {
  if (disconnect.isGone) return;
  const events: readonly ChatEvent[] = [
    { type: 'reply-start', id, model: outline?.model ?? 'instar' },
    { type: 'text-delta', text: answer.text },
    { type: 'reply-end', stop: 'end', usage: { inputTokens: 0, outputTokens: 0 } },
  ];
  const marks = compact({
    'x-instar-session': session.session.replace(/[^\x21-\x7e]/g, '').slice(0, 200),
    'x-instar-answer': answer.end,
    'x-instar-rated': answer.turn,
  });
  if (outline?.stream !== true) {
    const bytes = Buffer.from(JSON.stringify(wire.encodeReply(events)));
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': bytes.length, ...marks });
    response.end(bytes);
    return;
  }
  const options = outline.member('stream_options');
  const stream_options = body && options ? asObject(parseJson(body.toString('utf8', ...options))) : {};
  const encoder = wire.createStreamEncoder({ stream_options });
  response.writeHead(200, {
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'no-cache',
    ...marks,
  });
  response.end(events.map((event) => encoder.encode(event)).join(''));
}
