import type { FailureCase, Proposal } from '../../core/learn.ts';
import type { Evidence, Lesson, LessonText, Quote, Scope } from '../../core/lesson.ts';
import { quotableTexts, RESULT_PROVEN, rankFailures } from '../draft-lesson.ts';

/** In `why` of a refusal: the proposal is valid but needs corroboration. Its failures stay pending. */
export const NEEDS_ANOTHER_SESSION = 'needs another session';

const MOST_TURNS = 64;
const MOST_QUOTES = 64;
const FEWEST_SESSIONS = 2;

export interface EvidenceRules {
  /** The day of a time in milliseconds since the epoch. */
  readonly voteDay: (at: number) => string;
  /** The position of a passage in the recorded turn. */
  readonly locate?: (turn: string, text: string) => Promise<Quote | undefined>;
}

export type WeighedEvidence =
  | { readonly ok: false; readonly why: string }
  | {
      readonly ok: true;
      readonly evidence: Evidence;
      /** The failures that support it, one of each session and day first, and the successes that were proven. */
      readonly cited: readonly FailureCase[];
      /** Only heuristics report it, and in one session: a person decides. */
      readonly isUncorroborated: boolean;
    };

/**
 * Checks the evidence that a proposal cites: it must be failures of this cycle, with quotes that were recorded. One failure
 * reported by a verifier or a person is enough, and one that the user reported in the chat for its own agent and project; those
 * that only heuristics report must come from two sessions, and a session has one vote a day however often it failed. What is
 * learned from one session as a memory may rest on a success: proven by checks or an exit status it needs nobody's word, with
 * the user's content alone a person decides.
 */
export async function weighEvidence(
  text: LessonText,
  quotes: Proposal['quotes'],
  cases: readonly FailureCase[],
  old: Lesson | undefined,
  { voteDay, locate }: EvidenceRules,
  mayBeUncorroborated: boolean,
): Promise<WeighedEvidence> {
  const named = new Set(text.evidence.turns);
  const recorded = quotes.filter(({ turn, text: quoted }) => isRecorded(quoted, turn, cases));
  const isFabricated = (turn: string): boolean =>
    quotes.some((quote) => quote.turn === turn) && !recorded.some((quote) => quote.turn === turn);
  const known = cases.filter(({ turn }) => named.has(turn));
  const cited = rankFailures(known).filter(
    ({ turn, appraisal }) => appraisal.verdict === 'failure' && !isFabricated(turn),
  );
  const worked = mayBeUncorroborated
    ? known.filter((one) => one.appraisal.verdict === 'success' && !isFabricated(one.turn))
    : [];
  const proven = worked.filter(isProven);
  if (known.length === 0) return refuse('it cites none of the failures of this cycle');
  if (cited.length === 0 && proven.length === 0 && !worked.some(isLiked))
    return refuse(
      known.some(({ turn }) => isFabricated(turn))
        ? 'it cites quotes that were not recorded'
        : 'none of the turns that it cites failed',
    );
  const votes = new Map<string, FailureCase>();
  for (const failure of cited) {
    const vote = `${failure.session}\n${voteDay(failure.at)}`;
    if (!votes.has(vote)) votes.set(vote, failure);
  }
  const isReported = cited.some(
    (failure) =>
      failure.source === 'person' || failure.source === 'verifier' || isSaidHere(failure, text.scope),
  );
  const sessions = new Set([...votes.values()].map(({ session }) => session));
  const isUncorroborated = !isReported && proven.length === 0 && sessions.size < FEWEST_SESSIONS;
  if (isUncorroborated && !mayBeUncorroborated) return refuse(NEEDS_ANOTHER_SESSION);

  const firsts = [...votes.values()];
  const supporting = cited.length === 0 && proven.length === 0 ? worked.filter(isLiked) : proven;
  const ranked = [...firsts, ...cited.filter((failure) => !firsts.includes(failure)), ...supporting];
  const earlier = old?.text.evidence;
  const turns = new Set([...ranked.map(({ turn }) => turn).slice(0, MOST_TURNS), ...(earlier?.turns ?? [])]);
  const kept = new Set([...turns].slice(0, MOST_TURNS));
  const placed = await placeQuotes(
    recorded.filter(({ turn }) => ranked.some((failure) => failure.turn === turn)),
    locate,
  );
  const placedQuotes = [...placed, ...(earlier?.quotes ?? [])].filter(({ turn }) => kept.has(turn));
  const { learner, model, prompt } = text.evidence;
  return {
    ok: true,
    cited: ranked,
    isUncorroborated,
    evidence: {
      turns: [...kept],
      quotes: placedQuotes.slice(0, MOST_QUOTES),
      learner,
      ...(model === undefined ? {} : { model }),
      ...(prompt === undefined ? {} : { prompt }),
    },
  };
}

const isProven = ({ appraisal: { signals } }: FailureCase): boolean =>
  signals.some(({ name, score }) => name === RESULT_PROVEN && score > 0.5);

/** Somebody was content with it. */
const isLiked = ({ appraisal: { signals } }: FailureCase): boolean =>
  signals.some(
    ({ name, source, score }) =>
      score > 0.5 && (name === 'user-thanked' || source === 'person' || source === 'verifier'),
  );

/** What the user said in the chat is enough for the agent and the project that it was said to, and nowhere else. */
const isSaidHere = ({ source, scope }: FailureCase, { agent, project }: Scope): boolean =>
  source === 'chat' && scope.agent !== undefined && agent === scope.agent && project === scope.project;

const refuse = (why: string): WeighedEvidence => ({ ok: false, why });

const isRecorded = (quoted: string, turn: string, cases: readonly FailureCase[]): boolean =>
  quoted.trim() !== '' &&
  cases.some(
    (failure) => failure.turn === turn && quotableTexts(failure).some((text) => text.includes(quoted)),
  );

async function placeQuotes(
  quotes: Proposal['quotes'],
  locate: EvidenceRules['locate'],
): Promise<readonly Quote[]> {
  if (locate === undefined) return [];
  const placed: Quote[] = [];
  for (const { turn, text } of quotes.slice(0, MOST_QUOTES)) {
    const quote = await locate(turn, text);
    if (quote !== undefined) placed.push(quote);
  }
  return placed;
}
