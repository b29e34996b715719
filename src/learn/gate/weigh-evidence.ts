import type { EvidenceCase, Proposal } from '../../core/learn.ts';
import type { Evidence, Lesson, LessonText, Quote, Scope } from '../../core/lesson.ts';
import { ATTEMPT_WORKED, quotableTexts, RESULT_PROVEN, rankFailures } from '../draft-lesson.ts';

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

/** For a person: nothing but words says that it went well. */
const UNPROVEN = 'nothing proved the result: no verifier, no test and no exit code';
/** For a person: what was said in a chat counts where it was said. */
const TOO_WIDE = 'it was said in a chat, and would apply beyond the agent and the project it was said in';

type WeighedEvidence =
  | { readonly ok: false; readonly why: string }
  | {
      readonly ok: true;
      readonly evidence: Evidence;
      /** The turns that support it, one of each session and day first. */
      readonly cited: readonly EvidenceCase[];
      /** Why a person decides although the evidence is valid. */
      readonly doubts: readonly string[];
      /** The owner said nothing about it: its words are those of a user to the agent. */
      readonly isFromChat: boolean;
    };

interface CitedEvidence {
  /** Of the proposal, with the turns that it cites. */
  readonly text: LessonText;
  readonly quotes: Proposal['quotes'];
  /** The turns of this cycle. */
  readonly cases: readonly EvidenceCase[];
  /** The lesson that it revises. */
  readonly old: Lesson | undefined;
  /** Failures of one session are a doubt for a person, and no reason to refuse. */
  readonly mayBeUncorroborated: boolean;
}

/**
 * Checks the evidence that a proposal cites: it must be turns of this cycle, with quotes that were recorded. One failure
 * reported by a verifier or a person is enough, and so is one standing correction in the chat, for its own agent and project;
 * failures that only heuristics report must come from two sessions, and a session has one vote a day however often it failed.
 * A success supports a lesson when something other than words proved it.
 */
export async function weighEvidence(
  { text, quotes, cases, old, mayBeUncorroborated }: CitedEvidence,
  { voteDay, locate }: EvidenceRules,
): Promise<WeighedEvidence> {
  const named = new Set(text.evidence.turns);
  const recorded = quotes.filter(({ turn, text: quoted }) => isRecorded(quoted, turn, cases));
  const isFabricated = (turn: string): boolean =>
    quotes.some((quote) => quote.turn === turn) && !recorded.some((quote) => quote.turn === turn);
  const citedCases = cases.filter(({ turn }) => named.has(turn));
  const valid = citedCases.filter(({ turn }) => !isFabricated(turn));
  const against = [
    ...rankFailures(valid).filter(({ appraisal }) => appraisal.verdict === 'failure'),
    ...valid.filter((one) => one.appraisal.verdict !== 'failure' && isSaid(one)),
  ];
  const successes = valid.filter((one) => one.appraisal.verdict === 'success' && !isSaid(one));
  const isSupported = against.length > 0 || successes.some((one) => isProven(one) || isLiked(one));
  const cited = isSupported ? [...against, ...successes] : [];
  if (citedCases.length === 0) return refuse('it cites none of the turns of this cycle');
  if (cited.length === 0)
    return refuse(
      valid.length < citedCases.length
        ? 'it cites quotes that were not recorded'
        : 'none of the turns that it cites failed, was corrected or succeeded',
    );
  const votes = new Map<string, EvidenceCase>();
  for (const one of cited) {
    const vote = `${one.session}\n${voteDay(one.at)}`;
    if (!votes.has(vote)) votes.set(vote, one);
  }
  const isReported = cited.some(({ source }) => source === 'person' || source === 'verifier');
  const chats = cited.some(({ source }) => source === 'person') ? [] : cited.filter(isFromUser);
  const sessions = new Set(against.map(({ session }) => session));
  const isUncorroborated =
    against.length > 0 &&
    !isReported &&
    !against.some(isStanding) &&
    !(mayBeUncorroborated && successes.some(isProven)) &&
    sessions.size < FEWEST_SESSIONS;
  if (isUncorroborated && !mayBeUncorroborated) return refuse(NEEDS_ANOTHER_SESSION);
  const doubts = [
    ...(isUncorroborated ? [NEEDS_ANOTHER_SESSION] : []),
    ...(against.length === 0 && !successes.some(isProven) ? [UNPROVEN] : []),
    ...(chats.every(({ scope }) => isWithin(text, scope)) ? [] : [TOO_WIDE]),
  ];

  const firsts = [...votes.values()];
  const ranked = [...firsts, ...cited.filter((failure) => !firsts.includes(failure))];
  const earlier = old?.text.evidence;
  // A lesson from an attempt goes with the session that the task was mined from.
  const mined = ranked.flatMap(({ from }) => (from === undefined ? [] : [from]));
  const turns = new Set([
    ...[...new Set(mined), ...ranked.map(({ turn }) => turn)].slice(0, MOST_TURNS),
    ...(earlier?.turns ?? []),
  ]);
  const citable = new Set([...turns].slice(0, MOST_TURNS));
  const placed = await placeQuotes(
    recorded.filter(({ turn }) => ranked.some((failure) => failure.turn === turn)),
    locate,
  );
  const placedQuotes = [...placed, ...(earlier?.quotes ?? [])].filter(({ turn }) => citable.has(turn));
  const { learner, model, prompt } = text.evidence;
  return {
    ok: true,
    cited: ranked,
    doubts,
    isFromChat: chats.length > 0,
    evidence: {
      turns: [...citable],
      quotes: placedQuotes.slice(0, MOST_QUOTES),
      learner,
      ...(model === undefined ? {} : { model }),
      ...(prompt === undefined ? {} : { prompt }),
    },
  };
}

/** Said to Instar, or for later work too: a correction of one answer alone needs another session. */
const isStanding = ({ source, appraisal: { correction } }: EvidenceCase): boolean =>
  correction === undefined ? source === 'chat' : correction.isStanding;

/** Also what the user stated after the answer: it counts when two sessions say it. */
const isSaid = (one: EvidenceCase): boolean => isStanding(one) || one.appraisal.remark !== undefined;

/** Whether a user said in the chat what is learned, whoever else found that it went badly. */
export const isFromUser = ({ source, appraisal: { correction, remark } }: EvidenceCase): boolean =>
  source === 'chat' || correction !== undefined || remark !== undefined;

const PROOFS: ReadonlySet<string> = new Set(['checks-passed', RESULT_PROVEN, ATTEMPT_WORKED]);

/** A verifier, a test, an exit code or a reported attempt says so; thanks and an agent's mere outcome do not. */
const isProven = ({ source, appraisal }: EvidenceCase): boolean =>
  source === 'verifier' ||
  appraisal.signals.some(
    (signal) => signal.source === 'signal' && signal.score > 0.5 && PROOFS.has(signal.name),
  );

/** Somebody was content with it. */
const isLiked = ({ appraisal: { signals } }: EvidenceCase): boolean =>
  signals.some(
    ({ name, source, score }) =>
      score > 0.5 && (name === 'user-thanked' || source === 'person' || source === 'verifier'),
  );

/** Whether a lesson is shown to the agent and in the project of a case alone. */
const isWithin = ({ scope, note }: LessonText, where: Scope): boolean =>
  note.visibility !== 'shared' &&
  scope.agent !== undefined &&
  scope.agent === where.agent &&
  scope.project === where.project &&
  scope.member === where.member;

const refuse = (why: string): WeighedEvidence => ({ ok: false, why });

const isRecorded = (quoted: string, turn: string, cases: readonly EvidenceCase[]): boolean =>
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
