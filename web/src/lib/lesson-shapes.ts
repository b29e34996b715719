import type { Quote } from './work-shapes.ts';

/** What the API answers about the library. As far as the page reads it; times are ISO strings. */

export interface Scope {
  readonly agent?: string;
  readonly project?: string;
  readonly runKind?: string;
  readonly domain?: string;
}

export interface Effect {
  readonly with: { readonly n: number; readonly mean: number | null };
  readonly without: { readonly n: number; readonly mean: number | null };
  readonly difference: number | null;
  readonly low: number;
  readonly high: number;
  readonly verdict: string;
  readonly words: string;
}

export interface LessonRow {
  readonly id: string;
  readonly kind: string;
  readonly name: string;
  readonly description: string;
  readonly state: string;
  readonly revision: number;
  readonly scope: Scope;
  readonly source?: string;
  readonly taint?: readonly string[];
  readonly tier?: string;
  readonly pinned?: boolean;
  readonly frozen?: boolean;
  readonly reason?: string;
  readonly changedAt: string;
  readonly hash: string;
  readonly effect?: Effect;
}

export interface LessonPage {
  readonly lessons: readonly LessonRow[];
  readonly next?: string;
  readonly total: number;
  readonly counts: {
    readonly states: Readonly<Record<string, number>>;
    readonly kinds: Readonly<Record<string, number>>;
  };
}

export interface LessonText {
  readonly name: string;
  readonly description: string;
  readonly content: string;
}

export interface Lesson extends LessonRow {
  readonly content: string;
  readonly overlay?: { readonly payload?: unknown };
  readonly note?: {
    readonly context?: string;
    readonly keywords?: readonly string[];
    readonly tags?: readonly string[];
    readonly importance?: number;
    readonly confidence?: number;
    readonly visibility?: string;
    readonly halfLifeDays?: number;
    readonly triggers?: readonly string[];
  };
  readonly evidence: {
    readonly turns: readonly string[];
    readonly quotes: readonly Quote[];
    readonly learner?: string;
    readonly model?: string;
  };
  readonly writtenBy?: string;
  readonly createdAt: string;
  readonly why?: { readonly because: string; readonly since?: string; readonly fix?: string };
  readonly project?: string;
  readonly history: readonly {
    readonly at: string;
    readonly by: string;
    readonly op: string;
    readonly reason?: string;
    readonly state: string;
    readonly revision: number;
    readonly generation: number;
  }[];
  readonly revisions?: readonly (Partial<LessonText> & {
    readonly revision: number;
    readonly at: string;
    readonly by: string;
    readonly erased?: boolean;
  })[];
  readonly linked?: readonly {
    readonly type: string;
    readonly id: string;
    readonly name: string;
    readonly state: string;
  }[];
  readonly sessions?: readonly { readonly turn: string; readonly session: string }[];
}

export interface GenerationPage {
  readonly generation: number;
  readonly generations: readonly {
    readonly generation: number;
    readonly at: string;
    readonly reason: string;
    readonly by: string;
    readonly changes?: readonly { readonly op: string; readonly id: string; readonly name: string }[];
  }[];
  readonly next?: string;
}

type DiffedLesson = LessonText & { readonly id: string; readonly revision: number; readonly kind: string };

export interface GenerationDiff {
  readonly from: number;
  readonly to: number;
  readonly added: readonly DiffedLesson[];
  readonly removed: readonly DiffedLesson[];
  readonly revised: readonly {
    readonly id: string;
    readonly name: string;
    readonly kind: string;
    readonly before: LessonText;
    readonly after: LessonText;
  }[];
}

export interface Adaptation {
  readonly events: readonly {
    readonly id: string;
    readonly at: string;
    readonly kind: string;
    readonly sourceLabel: string;
    readonly scopeType: string;
    readonly scopeId: string;
    readonly score: number;
    readonly session?: string;
  }[];
  readonly candidates: readonly Candidate[];
  readonly counts: { readonly records: number; readonly scoring: number };
  readonly overlays: readonly {
    readonly lesson: string;
    readonly name: string;
    readonly kind: string;
    readonly state: string;
    readonly scope: Scope;
    readonly payload: Readonly<Record<string, unknown>>;
    readonly hash: string;
  }[];
}

export interface Candidate {
  readonly id: string;
  readonly type: string;
  readonly scopeType: string;
  readonly scopeId: string;
  readonly sourceLabel: string;
  readonly draftScore: number;
  readonly records: readonly string[];
  readonly score: number;
  readonly matches: number;
  readonly mean: number;
  readonly status: string;
  readonly why?: string;
  readonly lesson?: string;
}

export interface Memory {
  readonly notes: readonly MemoryNote[];
  readonly links: readonly { readonly from: string; readonly to: string; readonly type: string }[];
  readonly total: number;
  readonly archived: number;
  readonly contradictions: readonly {
    readonly a: string;
    readonly b: string;
    readonly names: readonly string[];
    readonly why: string;
  }[];
  readonly same: readonly { readonly a: string; readonly b: string; readonly names: readonly string[] }[];
}

export interface MemoryNote {
  readonly id: string;
  readonly name: string;
  readonly kind: string;
  readonly state: string;
  readonly description: string;
  readonly importance: number;
  readonly confidence: number;
  readonly tags?: readonly string[];
  readonly changedAt: string;
}
