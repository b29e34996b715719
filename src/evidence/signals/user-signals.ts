import type { Correction, Signal } from '../../core/evidence.ts';
import { separateTypedText } from '../../text/typed-text.ts';
import { INFRASTRUCTURE } from '../compose-reward.ts';
import { readCall } from '../tools/tool-call.ts';
import type { TurnReading } from '../turn-reading.ts';
import { type Reaction, readReaction } from './read-reaction.ts';

/** What the user said next, as signals and as a correction. */
interface UserReaction {
  readonly signals: readonly Signal[];
  readonly correction?: Correction;
  /** See `Appraisal.remark`. */
  readonly remark?: readonly string[];
}

export const NO_REACTION: UserReaction = { signals: [] };

/**
 * The user's reaction to a turn. What they said to the agent is `chat`, as is what they said to Instar; the latter is about this answer in
 * so many words and outranks the former. The reasons hold none of the user's words, since they are stored with the signals.
 */
export function readUserReaction(turn: TurnReading): UserReaction {
  const given = turn.evidence.given.findLast(({ source }) => source === 'chat');
  const rejected = readDenials(turn);
  const reaction = readReaction(turn);
  if (reaction === undefined) return rejected.length > 0 ? { signals: rejected } : NO_REACTION;
  const correction = reaction.kind === 'wrong' ? reaction.correction : undefined;
  const isOverruled = given !== undefined && given.score > 0;
  const remark = 'remark' in reaction && reaction.remark.length > 0 ? { remark: reaction.remark } : {};
  if (reaction.kind === 'remarked') return { signals: rejected, ...remark };
  return {
    signals: given === undefined ? [...rejected, signalOf(reaction, turn)] : rejected,
    ...remark,
    ...(correction === undefined || isOverruled ? {} : { correction }),
  };
}

/** A rejection with a reason is a correction, but a tool's result is no proof of who wrote it. */
function readDenials({ calls }: TurnReading): readonly Signal[] {
  const name = 'user-corrected';
  if (calls.some(({ outcome }) => outcome?.kind === 'rejected' && outcome.words !== undefined))
    return [{ name, source: 'signal', score: 0, weight: 3, reason: 'the user rejected a call' }];
  return calls.some(({ outcome }) => outcome?.kind === 'amended')
    ? [{ name, source: 'signal', score: 0.25, weight: 1, reason: 'the user changed the edit' }]
    : [];
}

/**
 * The person stopped the agent. What they say then is about where it was going, unless they send it on; without a word only an answer
 * that was finished can have been the reason. It teaches nothing by itself.
 */
export function findStop({ evidence, said, calls }: TurnReading): Signal | undefined {
  if (evidence.next?.isStopped !== true || evidence.isReported) return undefined;
  const { typed } = separateTypedText(evidence.next.user?.slice(0, CAP) ?? '');
  const isAbout =
    typed === ''
      ? evidence.status === 'complete' && calls.length === 0 && said !== ''
      : !ROUTINE.test(typed.toLowerCase());
  if (!isAbout) return undefined;
  return { name: 'stopped', source: 'signal', score: 0.25, weight: 1, reason: 'the user stopped the agent' };
}

/**
 * The agent acts, or could have acted, by tools that nobody here knows ("cancel_order"), and nothing has looked at what became of it: who
 * thanks for that has only read what the agent says of itself. A diff and a test run are seen by the user too.
 */
function isTakenOnTrust({ evidence, calls, answered }: TurnReading): boolean {
  const kinds = [
    ...[...calls, ...answered].map(({ view }) => view.kind),
    ...evidence.earlier.map((call) => readCall(call).kind),
    ...evidence.tools.map(({ name }) => readCall({ name, arguments: '' }).kind),
  ];
  return kinds.includes('other') && !kinds.includes('shell') && !kinds.includes('edit');
}

function signalOf(reaction: Reaction, turn: TurnReading): Signal {
  const { evidence, calls } = turn;
  switch (reaction.kind) {
    case 'wrong': {
      const name = 'user-corrected';
      if (reaction.correction === undefined)
        return { name, source: 'signal', score: 0, weight: 3, reason: 'the user showed an error' };
      if (reaction.isRule)
        return { name, source: 'chat', score: 0.25, weight: 1, reason: 'the user said how it is done here' };
      return { name, source: 'chat', score: 0, weight: 3, reason: 'the user corrected it' };
    }
    case 'remarked':
    case 'doubted':
      return { name: 'user-doubted', source: 'signal', score: 0.3, weight: 1, reason: 'the user has doubts' };
    case 'outage':
      return {
        name: INFRASTRUCTURE,
        source: 'signal',
        score: 0.5,
        weight: 1,
        reason: 'the user reported an outage',
      };
    case 'thanked': {
      // Thanks after an outage are for the effort.
      const isWhole =
        evidence.status === 'complete' && !calls.some(({ outcome }) => outcome?.kind === 'outage');
      const source = isWhole ? 'chat' : 'signal';
      const weight = isTakenOnTrust(turn) ? 0 : 1;
      return { name: 'user-thanked', source, score: 0.9, weight, reason: 'the user was content' };
    }
  }
}

const CAP = 4000;
const FEWEST_WORDS = 3;
/** Requests that people repeat because something else has changed. */
const ROUTINE =
  /^(?:please |pls |now |ok |okay |and )?(?:run|rerun|re-run|commit|push|pull|deploy|build|rebuild|continue|proceed|next|go|keep|carry|test|lint|format|start|restart|stop|sync|merge|release|publish|resume|retry|try|redo|again|more|status|refresh|reload|check|verify|weiter|mach weiter|continúa|sigue|continue[rz]?|继续)(?=\s|[.!,]|$)/;
/** Words that make another request of the same words. */
const TURNING =
  /^(?:not?|n't|don't|dont|without|instead|also|too|other|another|else|only|except|but|rather|both|all|every|first|second|third|last|next|new|old|same|different|more|less|nicht|kein|keine|ohne|statt|auch|nur|andere[rsnm]?|pas|sans|aussi|autre|seulement|sin|también|otro|otra|solo|不|别|也|只|另)$/;
/** Said about the answer: what it means is read elsewhere. */
const ABOUT_ANSWER =
  /^(?:wrong|still|again|doesn't|doesnt|didn't|didnt|isn't|isnt|wasn't|broken|fails?|failed|error|errors|thanks|thank|perfect|great|nice|good|works?|worked|undo|revert|falsch|immer|noch|danke|merci|gracias|toujours|encore|sigue|谢谢|错|还是)$/;
/** Words that a person adds or drops without meaning anything by it. */
const FILLER =
  /^(?:please|pls|plz|hey|hi|hello|ok|okay|so|well|just|can|could|would|will|you|i|me|my|we|us|our|the|a|an|to|for|of|in|on|at|it|its|this|that|these|those|is|are|be|do|does|and|with|want|need|like|help|kindly|now|then|there|here|bitte|mal|doch|kannst|könntest|du|der|die|das|den|dem|ein|eine|und|für|s'il|te|plaît|vous|le|la|les|un|une|et|por|favor|el|los|las|una|y|请|帮|我|一下|的|吧)$/;
/** Messages of a schedule. */
const SCHEDULED = /heartbeat|\bcron|schedul|reminder|\btimer|periodic/;
const NEARLY = 0.75;
/** File names, numbers, identifiers: another one is another request. */
const EXACT = /[\d/_.\\#@$]|[a-z][A-Z]/;

/**
 * The user sends the same request again, or nearly the same words, and says nothing about the answer: it was of no use.
 * Weak, for people repeat themselves for other reasons too.
 */
export function findAskedAgain({ evidence, said, calls }: TurnReading): Signal | undefined {
  const next = evidence.next?.user;
  if (next === undefined || evidence.isReported || (evidence.askedBefore ?? 0) > 0) return undefined;
  if (evidence.status !== 'complete' || (said === '' && calls.length === 0) || said.endsWith('?'))
    return undefined;
  const before = typedWords(evidence.task);
  const after = typedWords(next);
  if (before.length < FEWEST_WORDS || after.length < FEWEST_WORDS || !isSameRequest(before, after))
    return undefined;
  return {
    name: 'asked-again',
    source: 'signal',
    score: 0.2,
    weight: 1,
    reason: 'the user asked the same again',
  };
}

function isSameRequest(before: readonly string[], after: readonly string[]): boolean {
  const asked = after.join(' ').toLowerCase();
  if (ROUTINE.test(asked) || SCHEDULED.test(asked)) return false;
  const old = new Set(before.map((word) => word.toLowerCase()));
  const fresh = new Set(after.map((word) => word.toLowerCase()));
  const added = after.filter((word) => !old.has(word.toLowerCase()));
  const dropped = before.filter((word) => !fresh.has(word.toLowerCase()));
  const different = [...added, ...dropped];
  if (different.some((word) => EXACT.test(word) || TURNING.test(word.toLowerCase()))) return false;
  if (added.some((word) => ABOUT_ANSWER.test(word.toLowerCase()))) return false;
  const isFull = (word: string) => !FILLER.test(word);
  const oldFull = [...old].filter(isFull);
  const freshFull = [...fresh].filter(isFull);
  if (oldFull.length === 0 || freshFull.length === 0) return false;
  const shared = oldFull.filter((word) => freshFull.some((other) => isSameWord(word, other))).length;
  return shared / Math.max(oldFull.length, freshFull.length) >= NEARLY;
}

/** `test` and `tests`, `login` and `logins`: one is the beginning of the other. */
const isSameWord = (one: string, other: string): boolean =>
  one === other ||
  (one.length > 3 &&
    other.length > 3 &&
    Math.abs(one.length - other.length) <= 3 &&
    (one.startsWith(other) || other.startsWith(one)));

const MOST_WORDS = 300;

/** The words that the person typed. Chinese and Japanese have no spaces: two signs count as a word. */
function typedWords(text: string): readonly string[] {
  const typed = separateTypedText(text.slice(0, CAP)).typed;
  const words =
    typed.match(
      /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]{1,40}|[\p{L}\p{N}_$#@][\p{L}\p{N}_$#@'’./\\-]{0,80}/gu,
    ) ?? [];
  return words.slice(0, MOST_WORDS).flatMap((word) => {
    if (!/^[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]/u.test(word))
      return [word.replace(/['’./\\-]{1,4}$/, '').replaceAll('’', "'")];
    return word.length < 3
      ? [word]
      : Array.from({ length: word.length - 1 }, (_, at) => word.slice(at, at + 2));
  });
}
