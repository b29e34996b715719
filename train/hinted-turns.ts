import type { ChatRequest } from '../src/core/chat.ts';
import type { LessonPlace, PlacedLessons } from '../src/core/lesson.ts';
import type { DecodedTurn, Records, TurnView } from '../src/core/store.ts';
import type { PolicyTemplate } from '../src/core/training.ts';
import { createEvidenceReader } from '../src/evidence/evidence-reader.ts';
import { withLessons } from '../src/models/in-process-client.ts';
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
    for (const lessons of [{ text: '' }, ...(await shownIn(session, records))]) {
      const shown = (asked: ChatRequest): ChatRequest => withLessons(asked, lessons);
      if (!isSame(tokensOf(shown(request)), prompt)) continue;
      // Before the lessons, which are at the end of their text.
      const hinted = tokensOf(shown(withHint(request, hint)));
      return hinted.length === 0 || isSame(hinted, prompt) ? undefined : hinted;
    }
    return undefined;
  };
}

/** The lessons that the session's prompts had, the newest first. */
async function shownIn(
  session: string,
  records: Pick<Records, 'recalls' | 'block'>,
): Promise<readonly PlacedLessons[]> {
  const places = new Map<string, LessonPlace>();
  for (const { fact } of await records.recalls(session))
    if (fact.type === 'lessons-recalled' && fact.block !== undefined)
      places.set(fact.block, fact.after === undefined ? 'system' : 'message');
  const texts = await Promise.all(
    [...places].toReversed().map(async ([hash, place]) => ({ text: await records.block(hash), place })),
  );
  return texts.flatMap(({ text, place }) => (text === undefined ? [] : [{ text, place }]));
}

const isSame = (one: readonly number[], other: readonly number[]): boolean =>
  one.length === other.length && one.every((id, at) => id === other[at]);
