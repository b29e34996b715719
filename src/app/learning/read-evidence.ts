import type { AssistantPart, ChatMessage, ChatRequest, StopReason } from '../../core/chat.ts';
import type { ToolOutcome, TurnEvidence } from '../../core/evidence.ts';
import { asArray, asObject, compact, parseJson } from '../../core/json.ts';
import type { Records } from '../../core/records.ts';
import type { TurnView } from '../../core/store.ts';
import { WireError } from '../../core/wire.ts';
import { wires } from '../../wire/wires.ts';
import { type KnownBlocks, readStored } from '../recording/read-stored.ts';

export interface EvidenceOptions {
  readonly records: Pick<Records, 'turns' | 'block' | 'rewards'>;
  /** Only these turns; all when absent. */
  readonly wanted?: ReadonlySet<string>;
  /** Whether a tool's answer to a call says that it went wrong. */
  readonly hasFailed: (
    call: { readonly name: string; readonly arguments: string },
    outcome: ToolOutcome,
  ) => boolean;
}

export interface ReadTurn {
  readonly view: TurnView;
  readonly request: ChatRequest;
  readonly reply: readonly AssistantPart[];
  readonly stop: StopReason | undefined;
}

/**
 * A session's main turns with what is known of how they went, oldest first. A turn that cannot be read (erased, or of a
 * shape its wire does not know) is left out. What a reply led to is found in the request that follows it.
 */
export async function readEvidence(
  session: string,
  options: EvidenceOptions,
): Promise<readonly TurnEvidence[]> {
  const { records, wanted } = options;
  const known: KnownBlocks = new Map();
  const views = (await records.turns(session)).filter(
    ({ role, status }) => role === 'main' && status !== undefined,
  );
  const isWanted = (view: TurnView | undefined): boolean =>
    view !== undefined && (wanted === undefined || wanted.has(view.id));
  const turns: ReadTurn[] = [];
  for (const [index, view] of views.entries()) {
    // What a turn led to stands in the one after it.
    if (!isWanted(view) && !isWanted(views[index - 1])) continue;
    const read = await readTurn(view, records, known);
    if (read !== undefined) turns.push(read);
  }
  const last = views.at(-1)?.id;
  const wholeSession = await records.rewards({ session });
  const evidence = await Promise.all(
    turns.map(async (turn, index) => {
      const own = await records.rewards({ turn: turn.view.id });
      // What is said of a session as a whole is said of where it ended up.
      const given = turn.view.id === last ? [...own, ...wholeSession] : own;
      const { view, request, reply, stop } = turn;
      return compact({
        turn: view.id,
        session,
        agent: view.agent,
        role: view.role,
        status: view.status ?? 'crashed',
        failure: view.failure,
        task: taskOf(request.messages),
        tools: request.tools.map(({ name, parameters }) => ({ name, parameters })),
        reply,
        stop,
        earlier: earlierCalls(request.messages, options.hasFailed),
        next: nextState(turn, turns[index + 1]),
        given: given.map(({ source, score, note }) => compact({ source, score, note })),
        attempts: [],
      });
    }),
  );
  return evidence.filter(({ turn }) => wanted === undefined || wanted.has(turn));
}

/** Undefined when what was said is gone, or of a shape its wire does not know. */
export async function readTurn(
  view: TurnView,
  records: Pick<Records, 'block'>,
  known: KnownBlocks,
): Promise<ReadTurn | undefined> {
  const body = view.request === undefined ? undefined : await readStored(view.request, records, known);
  if (body === undefined) return undefined;
  const kept = asObject(parseJson((view.reply && (await records.block(view.reply))) || '{}'));
  try {
    return {
      view,
      request: wires[view.wire].decodeRequest(body),
      reply: asArray(kept.content) as unknown as readonly AssistantPart[],
      stop: kept.stop as StopReason | undefined,
    };
  } catch (error) {
    if (error instanceof WireError) return undefined;
    throw error;
  }
}

/** What the next request has beyond this one: the reply itself, its tools' answers, the user's next words. */
function nextState(turn: ReadTurn, after: ReadTurn | undefined): TurnEvidence['next'] {
  const { messages } = turn.request;
  if (after === undefined || after.request.messages.length <= messages.length) return undefined;
  const fresh = after.request.messages.slice(messages.length);
  const calls = new Set(turn.reply.flatMap((part) => (part.type === 'tool-call' ? [part.id] : [])));
  const tools = fresh.flatMap((message) =>
    message.role === 'tool' && calls.has(message.callId) ? [outcomeOf(message)] : [],
  );
  const said = fresh.find(({ role }) => role === 'user');
  const user = said === undefined ? '' : textOf(said);
  return { tools, ...(user === '' ? {} : { user }) };
}

function earlierCalls(
  messages: readonly ChatMessage[],
  hasFailed: EvidenceOptions['hasFailed'],
): TurnEvidence['earlier'] {
  const outcomes = new Map(
    messages.flatMap((message) => (message.role === 'tool' ? [[message.callId, outcomeOf(message)]] : [])),
  );
  return messages.flatMap((message) => {
    if (message.role !== 'assistant') return [];
    return message.content.flatMap((part) => {
      if (part.type !== 'tool-call') return [];
      const outcome = outcomes.get(part.id);
      return [
        {
          name: part.name,
          arguments: part.arguments,
          failed: outcome !== undefined && hasFailed(part, outcome),
        },
      ];
    });
  });
}

const outcomeOf = (message: Extract<ChatMessage, { role: 'tool' }>): ToolOutcome =>
  compact({ callId: message.callId, text: textOf(message), isError: message.isError });

const textOf = ({ content }: ChatMessage): string =>
  content.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n');

/** The newest words of the user. */
export const taskOf = (messages: readonly ChatMessage[]): string => {
  const words = messages.flatMap((message) => (message.role === 'user' ? [textOf(message)] : []));
  return words.findLast((text) => text.trim() !== '') ?? '';
};
