import { ANONYMOUS } from '../../core/caller.ts';
import type { Fact } from '../../core/fact.ts';
import { compact } from '../../core/json.ts';
import { type Lesson, type LessonText, PROMPT_KINDS } from '../../core/lesson.ts';
import type { LessonEvent, Library } from '../../core/library.ts';
import { isVisibleTo, principalOfSession } from '../../core/principal.ts';
import type { ConsideredLesson } from '../../core/recall.ts';
import type { SessionView, TurnView } from '../../core/store.ts';
import { plural } from '../../text/phrases.ts';
import { shortId } from '../../text/short-id.ts';
import { fixedErrorOf, isFragment } from '../check-overlay.ts';
import { isErasedText } from '../codec.ts';
import {
  admit,
  audienceOf,
  isInScope,
  type LearnedIn,
  matchesPattern,
  memberOf,
  widestReach,
} from '../scope.ts';
import { namesOf, titleOf } from '../title.ts';
import { closingOf } from './closed-by.ts';

/** Whether a turn was shown a lesson, and why, for programs. Ordered as people want to read them. */
const VERDICTS = [
  'shown',
  'listed',
  'held-out',
  'over-limit',
  'over-budget',
  'near-duplicate',
  'hidden-by-age',
  'no-error',
  'not-relevant',
  'no-task',
  'block-frozen',
  'aux-call',
  'no-key',
  'unreadable',
  'not-recorded',
  'other-agent',
  'other-project',
  'other-run-kind',
  'other-domain',
  'private',
  'not-approved',
  'written-later',
  'retired',
  'rejected',
  'expired',
  'kind-not-shown',
] as const;
export type TurnVerdict = (typeof VERDICTS)[number];

/** Why one lesson was in a turn's prompt, or was not. */
export interface ExplainedLesson {
  readonly id: string;
  readonly name: string;
  readonly verdict: TurnVerdict;
  /** A sentence without its subject: `is relevant (0.62; threshold 0.50)`. */
  readonly because: string;
  /** 0 to 1: how well it fits the task, where that was computed. */
  readonly relevance?: number;
  /** The turn at which it was chosen, when that was an earlier one. */
  readonly since?: string;
}

export interface RecallDecision {
  readonly at: number;
  readonly fact: Fact & { readonly type: 'lessons-recalled' };
}

interface ExplainTurnOptions {
  readonly turn: TurnView;
  readonly session: SessionView | undefined;
  /** The recall decisions of the session, oldest first. */
  readonly decisions: readonly RecallDecision[];
  readonly library: Library;
  /** Those to explain; absent: all. */
  readonly lessons?: readonly Lesson[];
  /** Where private lessons were learned, by id. */
  readonly learnedIn?: ReadonlyMap<string, readonly LearnedIn[] | undefined>;
}

/** From this relevance on a lesson fits (see `relevanceOf`). */
const ENOUGH = 0.5;

/** Every lesson that the library has, with the reason why this turn was shown it or not. Derived from the record. */
export function explainLessons(options: ExplainTurnOptions): readonly ExplainedLesson[] {
  const decisions = decisionsOf(options);
  const explained = [...(options.lessons ?? options.library.lessons())].map((lesson) =>
    explain(lesson, decisions, options),
  );
  const order = ({ verdict }: ExplainedLesson): number => VERDICTS.indexOf(verdict);
  return explained.sort(
    (a, b) => order(a) - order(b) || (b.relevance ?? 0) - (a.relevance ?? 0) || (a.name < b.name ? -1 : 1),
  );
}

/** The decisions that the turn's prompt rests on: from the last frozen block on. */
function decisionsOf({ turn, decisions }: ExplainTurnOptions): readonly RecallDecision[] {
  const own = decisions.filter(({ at, fact }) => {
    const isItsThread =
      turn.role === 'side'
        ? fact.thread.startsWith('side ') && fact.thread.endsWith(` ${turn.model}`)
        : fact.thread === `main ${turn.model}`;
    return isItsThread && (fact.turn === turn.id || at <= turn.startedAt);
  });
  const frozen = own.findLastIndex(({ fact }) => fact.after === undefined);
  return own.slice(Math.max(0, frozen));
}

function explain(
  lesson: Lesson,
  decisions: readonly RecallDecision[],
  options: ExplainTurnOptions,
): ExplainedLesson {
  const { turn, library } = options;
  const { id } = lesson;
  const isKnown = eventsUnder(turn, library);
  const event = library.history(id).findLast(isKnown);
  const text = event?.text ?? lesson.text;
  const chosen = decisions.findLast(({ fact }) => fact.considered.some((one) => one.id === id));
  const seen = chosen?.fact.considered.find((one) => one.id === id);
  const head = {
    id,
    ...namesOf({ text }),
    ...(seen === undefined ? {} : { relevance: seen.relevance }),
  };
  if (turn.lessons.includes(id)) {
    const since = decisions.find(({ fact }) => fact.lessons.includes(id))?.fact.turn;
    const placed = decisions.findLast(({ fact }) => fact.lessons.includes(id))?.fact;
    const isLine = placed?.lines?.includes(id) === true;
    const verdict = isLine ? 'listed' : 'shown';
    const why = isLine
      ? whyListed(seen, chosen)
      : whyShown({ ...lesson, text }, seen, chosen, askerOf(options));
    const because = `${why}${wordsElsewhere(id, placed)}`;
    return since === undefined || since === turn.id
      ? { ...head, verdict, because }
      : {
          ...head,
          verdict,
          because: `${because}; chosen at turn ${shortId(since)}, and shown for the rest of this session`,
          since,
        };
  }
  return { ...head, ...whyNotShown({ lesson, text, event, seen, chosen, decisions, isKnown }, options) };
}

/** A lesson that is in force, and that no text of ours says. */
function wordsElsewhere(id: string, placed: RecallDecision['fact'] | undefined): string {
  if (placed?.inPrompt?.includes(id) === true) return '; the client’s own prompt has its words';
  if (placed?.remembered?.includes(id) === true)
    return '; the weights that answer keep it, so that its words are not in the prompt';
  return '';
}

/** Whether an event had taken place when the turn's prompt was made. */
function eventsUnder({ generation, startedAt }: TurnView, library: Library): (event: LessonEvent) => boolean {
  const began = new Map(library.generations().map((one) => [one.generation, one.at]));
  return (event) =>
    event.generation < generation ||
    (event.generation === generation && (event.at <= startedAt || began.get(generation) === event.at));
}

/** Who sent the turn, as recall sees it. */
const askerOf = ({ turn, session }: ExplainTurnOptions) => ({
  agent: turn.agent,
  ...(session?.project === undefined ? {} : { project: session.project.id }),
  ...(turn.runKind === undefined ? {} : { runKind: turn.runKind }),
  ...compact({ member: principalOfSession(turn.session) }),
});

function whyShown(
  lesson: Lesson,
  seen: ConsideredLesson | undefined,
  chosen: RecallDecision | undefined,
  asker: ReturnType<typeof askerOf>,
): string {
  const { scope } = lesson.text;
  const fits = seen !== undefined && seen.relevance >= ENOUGH;
  const figure = seen === undefined ? '' : ` (${seen.relevance.toFixed(2)}; threshold ${ENOUGH.toFixed(2)})`;
  const pinned = lesson.pinned ? '; it is pinned' : '';
  if (seen?.brokenIn !== undefined)
    return `it is shown again because the answer of turn ${shortId(seen.brokenIn)} did not keep to it${pinned}`;
  if (chosen?.fact.why === 'reminder')
    return `it is shown again because it is about the work and stands far back${pinned}`;
  if (seen?.error !== undefined) return `it is shown because of the error ${seen.error}${pinned}`;
  if (lesson.kind === 'identity') return `it is part of the identity of its agent${pinned}`;
  if (isFragment(lesson) && isInScope(scope, asker, undefined))
    return `it is guidance for every run in its scope, whatever the task${pinned}`;
  if (lesson.text.note.isAlways === true && admit(audienceOf(lesson, undefined), asker, undefined) === 'yes')
    return `it holds for every task${fits ? `, and is relevant to this one${figure}` : ''}${pinned}`;
  const domain = chosen?.fact.domain;
  if (!fits && domain !== undefined && scope.domain === domain.name)
    return `it is a guideline of the domain ${domain.name}${pinned}`;
  if (fits) return `it is relevant${figure}${pinned}`;
  return `this session was shown it before, and it stays while it is in use${pinned}`;
}

function whyListed(seen: ConsideredLesson | undefined, chosen: RecallDecision | undefined): string {
  if (seen === undefined) return 'this session was shown its line before, and it stays while it is in use';
  const figure = seen.relevance.toFixed(2);
  if (seen.verdict === 'condensed')
    return 'its line is shown: what people told shares half of library.tokenBudget, and rules that fit this task better have filled that';
  if (seen.relevance < ENOUGH)
    return `its line is shown: it may be relevant (${figure}; its whole text from ${ENOUGH.toFixed(2)} on)`;
  const bodies = chosen?.fact.considered.filter(({ verdict }) => verdict === 'shown').length ?? 0;
  return `its line is shown: it is relevant (${figure}), but ${plural(bodies, 'more relevant lesson')} took the room for whole texts`;
}

interface Hidden {
  readonly lesson: Lesson;
  /** As it was then. */
  readonly text: LessonText;
  readonly event: LessonEvent | undefined;
  readonly seen: ConsideredLesson | undefined;
  readonly chosen: RecallDecision | undefined;
  readonly decisions: readonly RecallDecision[];
  readonly isKnown: (event: LessonEvent) => boolean;
}

type Reason = Pick<ExplainedLesson, 'verdict' | 'because'>;

function whyNotShown(hidden: Hidden, options: ExplainTurnOptions): Reason {
  return (
    whyNotInUse(hidden, options) ??
    whyNotForTurn(options) ??
    whyOutOfScope(hidden, options) ??
    whyNotChosen(hidden, options)
  );
}

/** The library did not have it in use when the turn came. */
function whyNotInUse(hidden: Hidden, { turn, library }: ExplainTurnOptions): Reason | undefined {
  const { lesson, event, isKnown } = hidden;
  if (event === undefined) {
    const first = library.history(lesson.id)[0]?.generation ?? library.generation;
    const than =
      first === turn.generation ? '' : ` (generation ${first}; this turn ran under ${turn.generation})`;
    return { verdict: 'written-later', because: `it was written after this turn${than}` };
  }
  if (event.state === 'proposed') {
    const why = lesson.state === 'proposed' && lesson.reason !== undefined ? `: ${lesson.reason}` : '';
    return { verdict: 'not-approved', because: `it was waiting for your approval${why}` };
  }
  if (event.state === 'retired' || event.state === 'rejected') {
    const words = closingOf(lesson, library, isKnown)?.words ?? event.state;
    return { verdict: event.state, because: `it was ${words}` };
  }
  if (isErasedText(lesson.text))
    return { verdict: 'retired', because: 'its text was erased with the session it was learned from' };
  if (lesson.expiresAt !== undefined && lesson.expiresAt <= turn.startedAt)
    return { verdict: 'expired', because: 'it had expired' };
  if (!PROMPT_KINDS.has(lesson.kind))
    return { verdict: 'kind-not-shown', because: `lessons of kind ${lesson.kind} are not put into prompts` };
  return undefined;
}

/** The turn gets no lessons at all. */
function whyNotForTurn({ turn }: ExplainTurnOptions): Reason | undefined {
  if (turn.role === 'aux')
    return {
      verdict: 'aux-call',
      because: 'a call of the client for itself (a title, a count, a summary) gets none',
    };
  if (turn.caller === ANONYMOUS.id)
    return { verdict: 'no-key', because: 'the caller sent no key, and gets none' };
  if (turn.unreadable?.request !== undefined)
    return { verdict: 'unreadable', because: 'the request could not be read, so nothing was put into it' };
  return undefined;
}

function whyOutOfScope(
  { lesson, text, seen, chosen }: Hidden,
  options: ExplainTurnOptions,
): Reason | undefined {
  const { turn, session } = options;
  const audience = audienceOf({ ...lesson, text }, options.learnedIn?.get(lesson.id));
  if (seen?.verdict === 'private' || admit(audience, askerOf(options), undefined) === 'private')
    return { verdict: 'private', because: 'it is private to the agent and project that it was learned from' };
  // A shared lesson, and a rule for every task, reach further than their scope.
  const { agent, project, runKind, domain } = widestReach(audience, askerOf(options));
  if (!isVisibleTo(memberOf({ ...lesson, text }), principalOfSession(turn.session)))
    return { verdict: 'private', because: 'it belongs to another key, end user or member of the team' };
  if (agent !== undefined && !matchesPattern(agent, turn.agent))
    return { verdict: 'other-agent', because: `it is for the agent ${agent}; this turn is of ${turn.agent}` };
  if (project !== undefined && !matchesPattern(project, session?.project?.id ?? '')) {
    const here = session?.project?.label || session?.project?.id;
    return {
      verdict: 'other-project',
      because: `it is for another project (${shortId(project)}); this turn is ${here === undefined ? 'in no known project' : `in ${here}`}`,
    };
  }
  if (runKind !== undefined && !matchesPattern(runKind, turn.runKind ?? ''))
    return {
      verdict: 'other-run-kind',
      because: `it is for runs of kind ${runKind}; this one is ${turn.runKind ?? 'of no named kind'}`,
    };
  const found = chosen?.fact.domain;
  const isNamed = found?.reason === 'header' || found?.reason === 'pattern';
  if (domain !== undefined && isNamed && !matchesPattern(domain, found.name))
    return {
      verdict: 'other-domain',
      because: `it is for the domain ${domain}; this turn is of ${found.name}`,
    };
  // The scope then was another one.
  return seen?.verdict === 'out-of-scope'
    ? { verdict: 'other-agent', because: `it was not for ${turn.agent} and this project` }
    : undefined;
}

function whyNotChosen(hidden: Hidden, { library }: ExplainTurnOptions): Reason {
  const { lesson, event, seen, decisions } = hidden;
  const last = decisions.at(-1)?.fact;
  if (decisions.some(({ fact }) => fact.heldOut.includes(lesson.id)))
    return {
      verdict: 'held-out',
      because: 'this session is in its control group: it goes without it, so that its effect can be measured',
    };
  const error = fixedErrorOf(lesson);
  if (error !== undefined)
    return {
      verdict: 'no-error',
      because:
        error === ''
          ? 'it is shown when its error comes up, and it names none'
          : `it is shown when the error ${error} comes up, and none did`,
    };
  if (last === undefined)
    return { verdict: 'not-recorded', because: 'how lessons were chosen for this turn was not recorded' };
  if (seen !== undefined) return whyNotTaken(seen, hidden, library);
  if (event !== undefined && event.generation > last.generation)
    return {
      verdict: 'block-frozen',
      because: `the lessons of this session were chosen before it was published (generation ${event.generation}, chosen under ${last.generation}); it is added to a later message of yours that it fits`,
    };
  if (last.considered.length === 0)
    return { verdict: 'no-task', because: 'the message has nothing that a lesson could be about' };
  return {
    verdict: 'not-relevant',
    because: `it does not fit the task: ${plural(last.considered.length, 'other lesson')} came nearer`,
  };
}

/** It was considered for this prompt, and not taken. */
function whyNotTaken(seen: ConsideredLesson, { chosen }: Hidden, library: Library): Reason {
  const all = chosen?.fact.considered ?? [];
  const taken = all.filter(({ verdict }) => verdict === 'shown' || verdict === 'held-out');
  const figure = seen.relevance.toFixed(2);
  switch (seen.verdict) {
    case 'over-limit':
      return {
        verdict: 'over-limit',
        because: `it fits (${figure}), but ${plural(taken.length, 'lesson')} that fit better fill the limit (library.topK)`,
      };
    case 'over-budget':
      return {
        verdict: 'over-budget',
        because: `it fits (${figure}), but it is too long beside those that fit better (library.tokenBudget)`,
      };
    case 'near-duplicate': {
      const twin = seen.of === undefined ? undefined : library.lesson(seen.of);
      return {
        verdict: 'near-duplicate',
        because: `it says nearly the same as ${twin === undefined ? 'another one' : `“${titleOf(twin)}”`}, which was taken instead`,
      };
    }
    case 'hidden-by-age':
      return {
        verdict: 'hidden-by-age',
        because: `it fits a little (${figure}), which is not enough at its age (activation ${seen.activation.toFixed(2)}): it has not proved useful lately`,
      };
    default: {
      const best = Math.max(...all.map(({ relevance }) => relevance));
      return {
        verdict: 'not-relevant',
        because:
          seen.relevance >= ENOUGH
            ? `it fits (${figure}), but far less than the best one (${best.toFixed(2)})`
            : `it does not fit the task (${figure}, ${ENOUGH.toFixed(2)} is needed)`,
      };
    }
  }
}
