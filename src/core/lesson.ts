import type { RuleCheck } from './check.ts';
import type { Overlay } from './overlay.ts';

/** The kinds of lessons: anything learned that changes behaviour. */
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

/** The kinds whose text is put into prompts. A change to a shown one is a new generation; changes to routes and limits are not. */
export const PROMPT_KINDS: ReadonlySet<LessonKind> = new Set([
  'skill',
  'experience',
  'fragment',
  'fix',
  'identity',
]);

/** `proposed` waits for a person; `trial` is shown and measured; `live` has passed its measurement. */
export const LESSON_STATES = ['proposed', 'trial', 'live', 'retired', 'rejected'] as const;
export type LessonState = (typeof LESSON_STATES)[number];

/**
 * Where lessons stand in a prompt: `system`, at the end of the system prompt, under headings; `message`, in the user's words, with the
 * user's message.
 */
export const LESSON_PLACES = ['system', 'message'] as const;
export type LessonPlace = (typeof LESSON_PLACES)[number];
/** `auto`: by the model, for each conversation. */
export const LESSON_PLACE_SETTINGS = ['auto', ...LESSON_PLACES] as const;
export type LessonPlaceSetting = (typeof LESSON_PLACE_SETTINGS)[number];

/** Lessons as a prompt shows them. */
export interface PlacedLessons {
  /** Empty when none are shown. */
  readonly text: string;
  /** Absent: system. */
  readonly place?: LessonPlace;
}

/** Where a lesson applies. An absent field means anywhere; `*` stands for any run of characters. */
export interface Scope {
  readonly agent?: string;
  readonly project?: string;
  readonly runKind?: string;
  readonly domain?: string;
  /** A member's id: that person's alone. `*`: the team's. Absent: the home's own person's. No pattern. */
  readonly member?: string;
}

/**
 * A passage of the record by reference: `length` characters from `start` in a block's text. It holds no text itself, so
 * that it cannot differ from the record and disappears with its session.
 */
export interface Quote {
  readonly turn: string;
  readonly block: string;
  readonly start: number;
  readonly length: number;
}

/** The evidence for a lesson. */
export interface Evidence {
  readonly turns: readonly string[];
  readonly quotes: readonly Quote[];
  /** Who learned it: a learner's name, `import`, `person`. */
  readonly learner: string;
  readonly model?: string;
  /** The hash of the prompt that the model was given. */
  readonly prompt?: string;
  /** Of a lesson of the team: the lessons of members that it was made of. An empty member: the home's own person. */
  readonly team?: readonly TeamOrigin[];
}

/** Plain data. */
type TeamOrigin = { readonly member: string; readonly lesson: string };

/** The source of untrusted free text in a lesson that no person has approved. Exit codes and error digests do not taint. */
export type Taint = 'tool' | 'web';

export type LessonSource = 'experience' | 'told' | 'inferred' | 'practice';
/**
 * Whom a lesson may be shown to. `private`: only the agent that it was learned from, in the same project; it is not
 * exported. `scoped`: whom its scope names. `shared`: every agent, in every project.
 */
export type Visibility = 'private' | 'scoped' | 'shared';

/**
 * Who may change a lesson of the kind identity, under every autonomy. `core`: a person. `guarded`: a learner may propose, a person
 * approves. `free`: a learner's change may go on trial.
 */
export const IDENTITY_TIERS = ['core', 'guarded', 'free'] as const;
export type IdentityTier = (typeof IDENTITY_TIERS)[number];

/**
 * What a lesson may be to another one. A link is stored once, and read from both ends by `lessons/links`: what one end is to the other
 * follows from what the other is to it, so that the two never disagree.
 *
 * `about`: on the same subject. `contradicts`: both cannot be followed, and nothing could tell which is right. `replaces`: it was
 * retired for this one, or merged into it. `revises`: a change of it that waits for a person. `summarises`: its rule is a
 * line here.
 */
export const LINK_INVERSES = {
  about: 'about',
  contradicts: 'contradicts',
  replaces: 'replaced-by',
  'replaced-by': 'replaces',
  revises: 'revised-by',
  'revised-by': 'revises',
  summarises: 'part-of',
  'part-of': 'summarises',
} as const;
export type LinkType = keyof typeof LINK_INVERSES;

/** The links that a text holds, besides those in `Note.links`. Others follow from states (`supersededBy`). */
export const RELATION_TYPES = ['contradicts', 'revises', 'summarises'] as const;
/** Plain data. */
export type Relation = { readonly type: (typeof RELATION_TYPES)[number]; readonly to: string };

/** Metadata of a lesson. */
export interface Note {
  /** The situation it was learned in, in one sentence. */
  readonly context?: string;
  readonly keywords: readonly string[];
  readonly tags: readonly string[];
  /** 0 to 1. */
  readonly importance: number;
  /** 0 to 1: the mean reward of its group; for a lesson from failures, how certain they are failures. */
  readonly confidence: number;
  readonly source: LessonSource;
  readonly visibility: Visibility;
  /** After this time its activation has halved, unless it proved useful. */
  readonly halfLifeDays: number;
  /** Ids of lessons about the same: links of the type `about`. */
  readonly links: readonly string[];
  /** Links of other types. */
  readonly relations?: readonly Relation[];
  /** Short ways in which a task that needs it may be worded: symptoms, everyday words, other languages. */
  readonly triggers?: readonly string[];
  /** For every task in its scope: a person or a model said so. A learner without a model never sets it. */
  readonly isAlways?: true;
  /** Of an identity; absent: guarded. */
  readonly tier?: IdentityTier;
}

/** One revision of a lesson, immutable once published. */
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
  /** What the running system reads of a lesson of the kinds fragment, fix, route, limit and flow. */
  readonly overlay?: Overlay;
}

export interface Lesson {
  readonly id: string;
  readonly kind: LessonKind;
  readonly state: LessonState;
  /** Counts from 1. */
  readonly revision: number;
  readonly text: LessonText;
  /** How to tell whether work kept to its rule. It belongs to the words of the rule: other words end it. */
  readonly check?: RuleCheck;
  /** Never hidden by age, never retired by a measurement. */
  readonly pinned: boolean;
  /** No learner may revise, merge or retire it. */
  readonly frozen: boolean;
  /** Not shown from this time on. */
  readonly expiresAt?: number;
  readonly createdAt: number;
  readonly changedAt: number;
  /** Why it waits, or was retired or rejected. */
  readonly reason?: string;
  /** The lesson it was merged into. */
  readonly mergedInto?: string;
  /** The newer lesson that it was retired for. */
  readonly supersededBy?: string;
}

/**
 * The author of a change. A `learner` may not change frozen lessons; a `person` may do anything. A `file` in the skills
 * folder may have been written by any program of the user: it may propose, and edit what is in use within limits.
 */
export interface Author {
  readonly kind: 'person' | 'learner' | 'instar' | 'file';
  readonly name: string;
}

/** A proposed edit. Applying one never throws (it gives the reason of a refusal) and is idempotent. */
export type Change =
  | {
      readonly op: 'add';
      readonly id: string;
      readonly kind: LessonKind;
      readonly state: 'proposed' | 'trial' | 'live';
      readonly text: LessonText;
      readonly expiresAt?: number;
      readonly check?: RuleCheck;
      /** Why it waits for a person. */
      readonly reason?: string;
    }
  /** `from` is the revision that the author saw: an edit of an older revision is refused. */
  | {
      readonly op: 'revise';
      readonly id: string;
      readonly from: number;
      readonly text: LessonText;
      /** Why it waits for a person. */
      readonly reason?: string;
    }
  /** The lessons `ids` become one, `into`, which is one of them; the others retire. */
  | {
      readonly op: 'merge';
      readonly ids: readonly string[];
      readonly into: string;
      readonly from: number;
      readonly text: LessonText;
    }
  | {
      readonly op: 'retire';
      readonly id: string;
      readonly reason: string;
      /** The lesson that says what holds now. */
      readonly supersededBy?: string;
      /** Of a person's word: the turns in which the same person took it back. */
      readonly turns?: readonly string[];
    }
  /** Approve, reject, promote, or bring back a retired lesson. */
  | {
      readonly op: 'move';
      readonly id: string;
      readonly to: 'proposed' | 'trial' | 'live' | 'rejected';
      readonly reason?: string;
    }
  | { readonly op: 'mark'; readonly id: string; readonly pinned?: boolean; readonly frozen?: boolean }
  /** Gives the rule a check, or takes it away. No new text: no new revision and no new generation. */
  | { readonly op: 'check'; readonly id: string; readonly check?: RuleCheck }
  /** Without a time: it never expires. */
  | { readonly op: 'expire'; readonly id: string; readonly expiresAt?: number }
  /** Restores the text of a revision, as a new revision, and a state: the inverse of other changes. */
  | { readonly op: 'restore'; readonly id: string; readonly revision: number; readonly state: LessonState };

/** Stands in the record for a text that was erased. The number tells the erased texts of one lesson apart. */
export interface ErasedText {
  readonly erased: number;
  /** The ids of the turns that it cited: they are not trained on. */
  readonly evidence?: Pick<Evidence, 'turns'>;
}

/** A change as the record has it: its text may have been erased. */
export type RecordedChange = Change extends infer One
  ? One extends { readonly text: LessonText }
    ? One | (Omit<One, 'text'> & { readonly text: ErasedText })
    : One
  : never;

/** Changes that are published together: those that apply become visible at once, in at most one new generation. */
export interface ChangeSet {
  /** The idempotency key: publishing the same set again changes nothing and answers the same. */
  readonly id: string;
  readonly by: Author;
  readonly reason: string;
  readonly changes: readonly Change[];
}

/** The result of one change. */
export type ChangeResult =
  | { readonly status: 'applied'; readonly id: string; readonly revision: number }
  /** It would change nothing. */
  | { readonly status: 'same'; readonly id: string }
  | { readonly status: 'refused'; readonly id: string; readonly why: string };

export interface PublishResult {
  /** The generation in force afterwards. */
  readonly generation: number;
  readonly results: readonly ChangeResult[];
}

/** Prompts may contain it, or requests are served by it. */
export const isInUse = ({ state }: Pick<Lesson, 'state'>): boolean => state === 'trial' || state === 'live';

/** In use, or waiting for a decision. */
export const isActive = ({ state }: Pick<Lesson, 'state'>): boolean =>
  state !== 'retired' && state !== 'rejected';
