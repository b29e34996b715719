/** Anything learned that changes behaviour, by what it does. */
export const LESSON_KINDS = [
  'skill',
  'experience',
  'fragment',
  'fix',
  'route',
  'limit',
  'flow',
  'identity',
] as const;
export type LessonKind = (typeof LESSON_KINDS)[number];

/** The kinds whose text stands in prompts. A change to one that is shown is a new generation; routes and limits are not. */
export const PROMPT_KINDS: ReadonlySet<LessonKind> = new Set([
  'skill',
  'experience',
  'fragment',
  'fix',
  'identity',
]);

/** `proposed` waits for a person; `trial` is shown and measured; `live` has passed. */
export const LESSON_STATES = ['proposed', 'trial', 'live', 'retired', 'rejected'] as const;
export type LessonState = (typeof LESSON_STATES)[number];

/** Where a lesson applies. An absent field means anywhere; `*` stands for any run of characters. */
export interface Scope {
  readonly agent?: string;
  readonly project?: string;
  readonly runKind?: string;
  readonly domain?: string;
}

/**
 * A passage of what was recorded, by where it stands: `length` characters from `start` in a block's text. It holds no
 * text of its own, so that it cannot say what was not said, and is gone when its session is erased.
 */
export interface Quote {
  readonly turn: string;
  readonly block: string;
  readonly start: number;
  readonly length: number;
}

/** What a lesson rests on. */
export interface Evidence {
  readonly turns: readonly string[];
  readonly quotes: readonly Quote[];
  /** Who learned it: a learner's name, `import`, `person`. */
  readonly learner: string;
  readonly model?: string;
  /** The hash of the prompt that the model was given. */
  readonly prompt?: string;
}

/** Whose free text went into a lesson without a person having vouched for it. Exit codes and error digests taint nothing. */
export type Taint = 'tool' | 'web';

export type LessonSource = 'experience' | 'told' | 'inferred' | 'practice';
export type Visibility = 'private' | 'scoped' | 'shared';

/** What is remembered beside a lesson's words. */
export interface Note {
  /** The situation it was learned in, in a sentence. */
  readonly context?: string;
  readonly keywords: readonly string[];
  readonly tags: readonly string[];
  /** 0 to 1. */
  readonly importance: number;
  /** 0 to 1: the mean reward of the group it came from; of one learned from failures, how clearly they were failures. */
  readonly confidence: number;
  readonly source: LessonSource;
  readonly visibility: Visibility;
  /** How long until half of its strength is gone, unless it proves useful. */
  readonly halfLifeDays: number;
  /** Ids of lessons it belongs with. */
  readonly links: readonly string[];
}

/** One revision of a lesson: never changed once it was published. */
export interface LessonText {
  /** A slug: `^[a-z][a-z0-9-]{1,62}$`. */
  readonly name: string;
  /** When to use it, in one sentence. */
  readonly description: string;
  readonly content: string;
  readonly category?: string;
  readonly scope: Scope;
  readonly note: Note;
  readonly evidence: Evidence;
  readonly taint: readonly Taint[];
}

export interface Lesson {
  readonly id: string;
  readonly kind: LessonKind;
  readonly state: LessonState;
  /** Counts from 1. */
  readonly revision: number;
  readonly text: LessonText;
  /** Never hidden by age and never retired by a measurement. */
  readonly pinned: boolean;
  /** No learner may revise, merge or retire it. */
  readonly frozen: boolean;
  /** Not shown from then on. */
  readonly expiresAt?: number;
  readonly createdAt: number;
  readonly changedAt: number;
  /** Why it is retired or was rejected. */
  readonly reason?: string;
  /** The lesson that took it up. */
  readonly mergedInto?: string;
}

/** Who makes a change. A `learner` may not touch what is frozen; a `person` may do anything. */
export interface Author {
  readonly kind: 'person' | 'learner' | 'instar';
  readonly name: string;
}

/** A proposed edit. Applying one is total (it says why not, it never throws) and idempotent (twice is once). */
export type Change =
  | {
      readonly op: 'add';
      readonly id: string;
      readonly kind: LessonKind;
      readonly state: 'proposed' | 'trial' | 'live';
      readonly text: LessonText;
      readonly expiresAt?: number;
    }
  /** `from` is the revision that the author saw: an edit of something older is refused, not guessed. */
  | { readonly op: 'revise'; readonly id: string; readonly from: number; readonly text: LessonText }
  /** The lessons `ids` become one, `into`, which is one of them; the others retire. */
  | {
      readonly op: 'merge';
      readonly ids: readonly string[];
      readonly into: string;
      readonly from: number;
      readonly text: LessonText;
    }
  | { readonly op: 'retire'; readonly id: string; readonly reason: string }
  /** Approve, reject, promote, or take a retired one up again. */
  | {
      readonly op: 'move';
      readonly id: string;
      readonly to: 'proposed' | 'trial' | 'live' | 'rejected';
      readonly reason?: string;
    }
  | { readonly op: 'mark'; readonly id: string; readonly pinned?: boolean; readonly frozen?: boolean }
  /** Undefined: never. */
  | { readonly op: 'expire'; readonly id: string; readonly expiresAt?: number }
  /** Back to what a revision said, as a new revision, and to a state it had. What reverting is made of. */
  | { readonly op: 'restore'; readonly id: string; readonly revision: number; readonly state: LessonState };

/** Changes that are published together: all that apply become visible at once, in at most one new generation. */
export interface ChangeSet {
  /** Publishing the same set again changes nothing and answers the same. */
  readonly id: string;
  readonly by: Author;
  readonly reason: string;
  readonly changes: readonly Change[];
}

/** What became of one change. */
export type ChangeResult =
  | { readonly status: 'applied'; readonly id: string; readonly revision: number }
  /** It says what is so already. */
  | { readonly status: 'same'; readonly id: string }
  | { readonly status: 'refused'; readonly id: string; readonly why: string };

export interface Published {
  /** The generation in force afterwards. */
  readonly generation: number;
  readonly results: readonly ChangeResult[];
}
