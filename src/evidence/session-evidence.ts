import type { ChatMessage } from '../core/chat.ts';
import type { Appraisal, ToolOutcome, TurnEvidence } from '../core/evidence.ts';
import { compact } from '../core/json.ts';
import type { DecodedTurn, Records, TurnView } from '../core/store.ts';
import { appraise } from './appraise.ts';
import { readEpisodeEvidence } from './episode.ts';
import { hasToolFailed } from './tools/tool-outcome.ts';

/** The part of the record that evidence is read from. */
export interface EvidenceRecords extends Pick<Records, 'turns' | 'turn' | 'rewards' | 'events'> {
  /** A decoder for the turns of one session, which share the blocks it has parsed. */
  decoder(): DecodeTurn;
}

/** How a turn went, without its messages. */
interface AppraisedTurn {
  readonly appraisal: Appraisal;
  readonly task: string;
  /** −1 for an episode: it has no tokens to train on. */
  readonly generation: number;
  readonly isFollowed: boolean;
}

/** Reads the evidence of sessions in a worker thread. Rejects with `StoreError`. */
export interface EvidenceReader {
  /** All turns of the session, or only the wanted ones. */
  read(session: string, wanted?: readonly string[]): Promise<readonly TurnEvidence[]>;
  /** The wanted turns and the turn before each of them; all turns when none are named. */
  appraise(session: string, wanted?: readonly string[]): Promise<readonly AppraisedTurn[]>;
  close(): Promise<void>;
}

const NO_GENERATION = -1;

/** The evidence of a session's turns, or of the wanted ones. An episode that an agent reported counts as one turn. */
export async function readSessionEvidence(
  session: string,
  records: EvidenceRecords,
  wanted?: ReadonlySet<string>,
): Promise<readonly TurnEvidence[]> {
  const decode = records.decoder();
  const turns = await readTurnEvidence(session, { records, decode, ...(wanted ? { wanted } : {}) });
  if (turns.length > 0) return turns;
  const reported = await readEpisodeEvidence(session, records);
  return reported === undefined ? [] : [reported.evidence];
}

/** Appraises the wanted turns and the turn before each of them: a turn's consequences appear in the next request. */
export async function appraiseTurns(
  session: string,
  records: EvidenceRecords,
  wanted?: ReadonlySet<string>,
): Promise<readonly AppraisedTurn[]> {
  const turns: AppraisedTurn[] = [];
  for (const evidence of await readSessionEvidence(
    session,
    records,
    wanted && (await withEarlier(session, records, wanted)),
  )) {
    turns.push({
      appraisal: appraise(evidence),
      task: evidence.task,
      generation: (await records.turn(evidence.turn))?.generation ?? NO_GENERATION,
      isFollowed: evidence.next !== undefined,
    });
  }
  return turns;
}

async function withEarlier(
  session: string,
  records: EvidenceRecords,
  wanted: ReadonlySet<string>,
): Promise<ReadonlySet<string>> {
  const main = (await records.turns(session)).filter(({ role }) => role === 'main');
  const earlier = main.filter((_, index) => wanted.has(main[index + 1]?.id ?? ''));
  return new Set([...wanted, ...earlier.map(({ id }) => id)]);
}

/** Undefined for a turn that was erased or that its wire cannot decode. */
type DecodeTurn = (view: TurnView) => Promise<DecodedTurn | undefined>;

interface EvidenceOptions {
  readonly records: Pick<Records, 'turns' | 'rewards'>;
  readonly decode: DecodeTurn;
  /** Only these turns; all when absent. */
  readonly wanted?: ReadonlySet<string>;
}

/**
 * The evidence of a session's main turns, oldest first. Turns that cannot be decoded are left out. The consequences of a
 * reply (tool results, the user's next message) are read from the request that follows it.
 */
async function readTurnEvidence(session: string, options: EvidenceOptions): Promise<readonly TurnEvidence[]> {
  const { records, wanted, decode } = options;
  const views = (await records.turns(session)).filter(
    ({ role, status }) => role === 'main' && status !== undefined,
  );
  const isWanted = (view: TurnView | undefined): boolean =>
    view !== undefined && (wanted === undefined || wanted.has(view.id));
  const turns: DecodedTurn[] = [];
  for (const [index, view] of views.entries()) {
    // The turn after a wanted one is needed too: it holds the consequences.
    if (!isWanted(view) && !isWanted(views[index - 1])) continue;
    const read = await decode(view);
    if (read !== undefined) turns.push(read);
  }
  const last = views.at(-1)?.id;
  const wholeSession = await records.rewards({ session });
  const evidence = await Promise.all(
    turns.map(async (turn, index) => {
      const own = await records.rewards({ turn: turn.view.id });
      // A reward for the whole session counts for its last turn.
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
        earlier: earlierCalls(request.messages),
        next: nextState(turn, turns[index + 1]),
        given: given.map(({ source, score, note }) => compact({ source, score, note })),
        attempts: [],
      });
    }),
  );
  return evidence.filter(({ turn }) => wanted === undefined || wanted.has(turn));
}

/** What the next request adds: the reply itself, the tool results, the user's next message. */
function nextState(turn: DecodedTurn, after: DecodedTurn | undefined): TurnEvidence['next'] {
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

function earlierCalls(messages: readonly ChatMessage[]): TurnEvidence['earlier'] {
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
          failed: outcome !== undefined && hasToolFailed(part, outcome),
        },
      ];
    });
  });
}

const outcomeOf = (message: Extract<ChatMessage, { role: 'tool' }>): ToolOutcome =>
  compact({ callId: message.callId, text: textOf(message), isError: message.isError });

const textOf = ({ content }: ChatMessage): string =>
  content.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n');

/** The newest user message with text. */
export const taskOf = (messages: readonly ChatMessage[]): string => {
  const words = messages.flatMap((message) => (message.role === 'user' ? [textOf(message)] : []));
  return words.findLast((text) => text.trim() !== '') ?? '';
};
