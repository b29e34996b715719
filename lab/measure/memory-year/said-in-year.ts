import type { StoredFact } from '../../../src/core/fact.ts';
import type { EmbeddingModel } from '../../../src/core/recall.ts';
import type { DecodedTurn, TurnView } from '../../../src/core/store.ts';
import {
  ownerOf,
  packCodes,
  packVectors,
  passagesOf,
  wordCodes,
} from '../../../src/learn/recollect/encode-message.ts';
import { createRecollect } from '../../../src/learn/recollect/recollect.ts';
import { chooseQuotes } from '../../../src/lessons/shown/show-past.ts';

/** What the person of a year typed, searched as the product searches it. */
interface SaidInYear {
  /** The only message of a session. */
  say(text: string, at: number): Promise<void>;
  /** What a question gets quoted, oldest first. */
  ask(question: string): Promise<readonly string[]>;
  /** Messages, and the bytes of their index in the record. */
  size(): { readonly messages: number; readonly bytes: number };
}

const ASKER = { session: 'asks', agent: 'year' };

export function createSaidInYear(embed: EmbeddingModel): SaidInYear {
  const facts: StoredFact[] = [];
  const turns = new Map<string, DecodedTurn>();
  let bytes = 0;
  const recollect = createRecollect({
    records: {
      factsOf: async (_, after, most = 1000) => facts.slice(after, after + most),
      turn: async (id) => turns.get(id)?.view,
    },
    decode: async ({ id }) => turns.get(id),
    hasSecret: () => false,
    clock: { now: () => facts.at(-1)?.at ?? 0 },
    model: embed,
    vectorMs: 60_000,
  });
  return {
    say: async (text, at) => {
      const nth = facts.length + 1;
      const session = `said_${nth}`;
      const turn = `turn_${nth}`;
      turns.set(turn, turnOf(text, { id: turn, session, at }));
      const words = packCodes(wordCodes(text));
      const vectors = packVectors(await embed.embed(passagesOf([text])));
      bytes += words.length + vectors.length;
      const owner = ownerOf(ASKER);
      facts.push({
        seq: nth,
        at,
        fact: { type: 'message-indexed', session, turn, owner, words, vectors, engine: embed.id },
      });
    },
    ask: async (text) =>
      chooseQuotes(await recollect({ ...ASKER, text }), () => false).map((one) => one.text),
    size: () => ({ messages: facts.length, bytes }),
  };
}

function turnOf(text: string, { id, session, at }: { id: string; session: string; at: number }): DecodedTurn {
  const view: TurnView = {
    id,
    session,
    agent: ASKER.agent,
    role: 'main',
    wire: 'openai-chat',
    model: 'm',
    generation: 0,
    policy: 'year/m',
    lessons: [],
    startedAt: at,
    request: id,
  };
  const messages = [{ role: 'user', content: [{ type: 'text', text }] }] as const;
  return {
    view,
    request: { model: 'm', system: [], messages, tools: [], stream: false },
    reply: [],
    stop: undefined,
  };
}
