import type { Lesson, LessonKind, LessonText, Scope } from '../core/lesson.ts';
import { EVERY_KEY, isOwnedBy, isVisibleTo, UNKNOWN_AGENT } from '../core/principal.ts';
import type { RecallQuery } from '../core/recall.ts';
import type { Records } from '../core/store.ts';
import { isPersonsWord } from './told.ts';

/** Whether a value matches a pattern in which `*` stands for any characters. Backtracks to the last star only. */
export function matchesPattern(pattern: string, value: string): boolean {
  let at = 0;
  let read = 0;
  let star = -1;
  let resume = 0;
  while (read < value.length) {
    if (pattern[at] === '*') {
      star = at++;
      resume = read;
    } else if (pattern[at] === value[read]) {
      at++;
      read++;
    } else if (star >= 0) {
      at = star + 1;
      read = ++resume;
    } else return false;
  }
  while (pattern[at] === '*') at++;
  return at === pattern.length;
}

/**
 * Whether a lesson's scope matches a query. `domain` is a named domain; a guessed one is passed as undefined and excludes
 * nothing, since a wrong guess would hide relevant lessons.
 */
export function isInScope(
  scope: Scope,
  query: Pick<RecallQuery, 'agent' | 'project' | 'runKind' | 'member'>,
  domain: string | undefined,
): boolean {
  return (
    isVisibleTo(scope.member, query.member) &&
    fits(scope.agent, query.agent) &&
    fits(scope.project, query.project) &&
    fits(scope.runKind, query.runKind) &&
    (domain === undefined || fits(scope.domain, domain))
  );
}

const fits = (pattern: string | undefined, value: string | undefined): boolean =>
  pattern === undefined || matchesPattern(pattern, value ?? '');

const FIELDS = ['agent', 'project', 'runKind', 'domain'] as const;

/** Whether two scopes overlap. */
export const scopesOverlap = (a: Scope, b: Scope): boolean =>
  (isOwnedBy(a.member, b.member) || isOwnedBy(b.member, a.member)) &&
  FIELDS.every((field) => patternsMeet(a[field] ?? '*', b[field] ?? '*'));

/** Whether `outer` contains all of `inner`. A star in `inner` matches only a star in `outer`. */
export const scopeCovers = (outer: Scope, inner: Scope): boolean =>
  isOwnedBy(outer.member, inner.member) &&
  FIELDS.every((field) => matchesPattern(outer[field] ?? '*', inner[field] ?? '*'));

/** Whether some text matches both patterns: dynamic programming over their prefixes. */
function patternsMeet(a: string, b: string): boolean {
  let above: readonly boolean[] = [];
  for (let row = 0; row <= a.length; row++) {
    const now: boolean[] = [];
    for (let at = 0; at <= b.length; at++) {
      const [left, right] = [a[row - 1], b[at - 1]];
      now.push(
        (row === 0 && at === 0) ||
          (left === '*' && (above[at] === true || now[at - 1] === true)) ||
          (right === '*' && (now[at - 1] === true || above[at] === true)) ||
          (row > 0 && at > 0 && left === right && above[at - 1] === true),
      );
    }
    above = now;
  }
  return above.at(-1) === true;
}

/** Where a lesson was learned: the agent, and the project if it was known. */
export interface LearnedIn {
  readonly agent: string;
  readonly project?: string;
}

export type Asker = Pick<RecallQuery, 'agent' | 'project' | 'runKind' | 'member' | 'sharesAgents'>;

/**
 * Whom a lesson may be shown to. `scoped`: whom its scope names. `shared`: every agent of the same member, in every project; the kind of run
 * and the domain of its scope still say when it applies. `private`: of those in its scope only the agent that it was learned
 * from, and only in the same project.
 */
export interface Audience {
  readonly scope: Scope;
  /** The scope in which it may be shown. */
  readonly reach: Scope;
  /** Where it may be shown when the person's agents share what they are told. */
  readonly acrossAgents?: Scope;
  /** The person said it for every task: agents that share it have it in every task, too. */
  readonly isForAllAgents?: boolean;
  /** Of a private lesson only. */
  readonly learnedIn?: readonly LearnedIn[];
}

/** The scope in which a lesson may be shown, apart from the limits of a private one. */
export function reachOf({ scope, note }: Pick<LessonText, 'scope' | 'note'>): Scope {
  if (note.visibility !== 'shared') return scope;
  const { runKind, domain, member } = scope;
  return {
    ...(member === undefined ? undefined : { member }),
    ...(runKind === undefined ? undefined : { runKind }),
    ...(domain === undefined ? undefined : { domain }),
  };
}

/** Who wrote a lesson that rests on no conversation: the owner imported it, wrote it as a file, or took it from the starter set. */
const BY_OWNER: ReadonlySet<string> = new Set(['import', 'file', 'person', 'starter']);
const ADVICE: ReadonlySet<LessonKind> = new Set(['skill', 'experience']);

/**
 * Whose a lesson is, for those who may see it. What the owner wrote holds for every key of the home; what was learned in a
 * conversation holds for those whose conversation it was.
 */
export function memberOf({ kind, text }: Pick<Lesson, 'kind' | 'text'>): string | undefined {
  const { scope, evidence } = text;
  const isOwners = evidence.turns.length === 0 && BY_OWNER.has(evidence.learner) && ADVICE.has(kind);
  return scope.member === undefined && isOwners ? EVERY_KEY : scope.member;
}

/** `places`: where its evidence was recorded. Without evidence a private lesson belongs to the agent that its scope names. */
export function audienceOf(lesson: Lesson, places: readonly LearnedIn[] | undefined): Audience {
  const { text } = lesson;
  const member = memberOf(lesson);
  const scope = member === text.scope.member ? text.scope : { ...text.scope, ...(member && { member }) };
  const shared = reachOf({ ...text, scope });
  const reach = text.note.visibility === 'shared' ? shared : scope;
  if (text.note.visibility === 'private') return { scope, reach, learnedIn: places ?? namedIn(scope) };
  const { agent, ...anyAgent } = reach;
  const isTold = isPersonsWord(lesson) && ADVICE.has(lesson.kind) && scope.member === undefined;
  if (!isTold || agent === undefined) return { scope, reach };
  // What was said to a program that nobody knows may be a stranger's word.
  const isForAllAgents = text.note.isAlways === true && agent !== UNKNOWN_AGENT;
  return { scope, reach, acrossAgents: anyAgent, isForAllAgents };
}

/**
 * `yes`: it is in scope. `shared`: only because it is shared. `private`: it is another agent's or another project's. `foreign`: it is
 * another member's, who alone may know that there is such a lesson.
 */
type Admittance = 'yes' | 'shared' | 'out-of-scope' | 'private' | 'foreign';

/** `domain` as in `isInScope`. */
export function admit(audience: Audience, asker: Asker, domain: string | undefined): Admittance {
  const { scope, learnedIn } = audience;
  if (!isVisibleTo(scope.member, asker.member)) return 'foreign';
  if (learnedIn !== undefined && !learnedIn.some((place) => isSamePlace(place, asker))) return 'private';
  if (isInScope(scope, asker, domain)) return 'yes';
  const widest = widestReach(audience, asker);
  if (scope === widest || !isInScope(widest, asker, domain)) return 'out-of-scope';
  return audience.isForAllAgents === true ? 'yes' : 'shared';
}

/** The scope in which it may be shown to this asker, apart from the limits of a private lesson. */
export const widestReach = ({ reach, acrossAgents }: Audience, { sharesAgents }: Asker): Scope =>
  sharesAgents === true ? (acrossAgents ?? reach) : reach;

const isSamePlace = (place: LearnedIn, { agent, project }: Asker): boolean =>
  place.agent === agent && (place.project ?? '') === (project ?? '');

/** A pattern names nobody: without evidence a private lesson with one is shown to nobody. */
const namedIn = ({ agent, project }: Scope): readonly LearnedIn[] =>
  agent === undefined ? [] : [{ agent, ...(project === undefined ? undefined : { project }) }];

/** Reads where private lessons were learned, from the sessions of their evidence. Undefined for one without evidence. */
export type ReadLearnedIn = (lesson: Lesson) => Promise<readonly LearnedIn[] | undefined>;

export function createReadLearnedIn(records: Pick<Records, 'turn' | 'session'>): ReadLearnedIn {
  return async ({ text }) => {
    if (text.evidence.turns.length === 0) return undefined;
    const places = new Map<string, LearnedIn>();
    for (const id of text.evidence.turns) {
      const turn = await records.turn(id);
      if (turn === undefined) continue;
      const project = (await records.session(turn.session))?.project?.id;
      const place = { agent: turn.agent, ...(project === undefined ? undefined : { project }) };
      places.set(JSON.stringify(place), place);
    }
    return [...places.values()];
  };
}
