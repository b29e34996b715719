import type { ChatRequest } from '../core/chat.ts';
import type { DecodedTurn, Records, TurnView } from '../core/store.ts';
import type { PolicyTemplate } from '../core/training.ts';
import { createEvidenceReader } from '../evidence/evidence-reader.ts';
import { hintOf, withHint } from './hint.ts';

/** The prompt of a turn with what the user said against its answer; undefined when nothing was said or it cannot be rebuilt. */
export type ReadHintedPrompt = (turn: {
  readonly turn: string;
  readonly session: string;
  /** The prompt in the ids that were sent. */
  readonly prompt: readonly number[];
}) => Promise<readonly number[] | undefined>;

export interface HintedTurnsOptions {
  readonly records: Pick<Records, 'session' | 'turns' | 'turn' | 'rewards' | 'events' | 'recalls' | 'block'>;
  /** The turn's request and reply; undefined when they cannot be read any more. */
  readonly decodeTurn: (turn: TurnView) => Promise<DecodedTurn | undefined>;
  readonly template: () => Promise<PolicyTemplate>;
}

/**
 * Hints are a person's own words about an answer: passages of their next message that correct it, and the notes of their
 * feedback. They go with their session when it is erased. The recorded request must give exactly the recorded prompt: where a
 * secret was redacted from it, or a later block was added to the conversation, the turn has no hint.
 */
export function createReadHintedPrompt(options: HintedTurnsOptions): ReadHintedPrompt {
  const { records, decodeTurn } = options;
  const evidence = createEvidenceReader({ ...records, decoder: () => decodeTurn });
  return async ({ turn, session, prompt }) => {
    const [appraised] = await evidence.turns(session, [turn]);
    const notes = (appraised?.evidence.given ?? []).flatMap(({ source, score, note }) =>
      (source === 'person' || source === 'chat') && score < 0 && note !== undefined ? [note] : [],
    );
    const hint = hintOf([...notes, ...(appraised?.appraisal.correction?.quotes ?? [])]);
    const view = hint === undefined ? undefined : await records.turn(turn);
    const request = view && (await decodeTurn(view))?.request;
    if (hint === undefined || request === undefined) return undefined;
    const template = await options.template();
    const tokensOf = (asked: ChatRequest): readonly number[] => {
      const rendered = template.render(asked);
      return rendered.is === 'prompt' ? rendered.tokens : [];
    };
    for (const block of ['', ...(await blocksOf(session, records))]) {
      const shown = (asked: ChatRequest): ChatRequest => (block === '' ? asked : withHint(asked, block));
      if (!isSame(tokensOf(shown(request)), prompt)) continue;
      // Before the block, which is at the end of its text.
      const hinted = tokensOf(shown(withHint(request, hint)));
      return hinted.length === 0 || isSame(hinted, prompt) ? undefined : hinted;
    }
    return undefined;
  };
}

/** The blocks that the session's system prompts had, the newest first. */
async function blocksOf(
  session: string,
  records: Pick<Records, 'recalls' | 'block'>,
): Promise<readonly string[]> {
  const hashes = (await records.recalls(session)).flatMap(({ fact }) =>
    fact.type === 'lessons-recalled' && fact.after === undefined && fact.block !== undefined
      ? [fact.block]
      : [],
  );
  const texts = await Promise.all([...new Set(hashes)].toReversed().map((hash) => records.block(hash)));
  return texts.flatMap((text) => (text === undefined ? [] : [text]));
}

const isSame = (one: readonly number[], other: readonly number[]): boolean =>
  one.length === other.length && one.every((id, at) => id === other[at]);
