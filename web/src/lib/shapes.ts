/** What the API answers, as far as the page reads it. Times are ISO strings. */

export interface Interval {
  readonly mean: number;
  readonly low: number;
  readonly high: number;
}

export interface Reward {
  readonly source: string;
  readonly score: number;
  readonly note?: string;
  readonly at?: string;
}

export interface Project {
  readonly id: string;
  readonly label: string;
}

export interface Waiting {
  readonly code: string;
  readonly count: number;
  readonly what: string;
  readonly why: string;
  readonly nextAt?: string;
  readonly fix?: string;
  readonly lesson?: string;
}

export interface Provider {
  readonly name: string;
  readonly baseUrl?: string;
  readonly wires: readonly string[];
  readonly credentials?: string;
  readonly models: readonly string[];
}

export interface Status {
  readonly version: string;
  readonly startedAt: string;
  readonly now: string;
  readonly providers: readonly Provider[];
  readonly requests: {
    readonly served: number;
    readonly failed: number;
    readonly refused: number;
    readonly inFlight: number;
  };
  readonly recording: {
    readonly degraded?: string;
    readonly missing?: string;
    readonly lost?: number;
    readonly recorded?: number;
    readonly unreadable?: number;
  };
  readonly copies?: { readonly count?: number; readonly newest?: string; readonly problem?: string };
  readonly library: {
    readonly generation?: number;
    readonly lessons?: Readonly<Record<string, number>>;
    readonly problem?: string;
  };
  readonly learning: {
    readonly on?: boolean;
    readonly writer?: string;
    readonly problem?: string;
    readonly appraised?: { readonly failures: number; readonly successes: number };
    readonly cycles?: { readonly run: number; readonly published: number; readonly queued: number };
    readonly cost?: {
      readonly learning: {
        readonly usdToday: number;
        readonly tokensToday: number;
        readonly unpricedTokensToday: number;
        readonly callsToday: number;
      };
    };
    readonly usdPerDay?: number;
    readonly buffer?: { readonly query: number; readonly support: number };
  };
  readonly waiting?: readonly Waiting[];
}

export interface Today {
  readonly from: string;
  readonly generation: number;
  readonly learned: readonly {
    readonly id: string;
    readonly name: string;
    readonly description: string;
    readonly state: string;
    readonly at: string;
    readonly shownIn?: number;
    readonly quote?: Quote;
  }[];
  readonly changed: readonly {
    readonly id?: string;
    readonly name: string;
    readonly what: string;
    readonly at: string;
  }[];
  readonly sessions: number;
  readonly turns: number;
  readonly appraised: { readonly failures: number; readonly successes: number };
  readonly feedback: number;
  readonly scored: number;
  readonly shown: { readonly lessons: number; readonly turns: number };
  readonly practice?: { readonly sessions: number; readonly learned: number };
  readonly cost: {
    readonly calls: number;
    readonly tokens: number;
    readonly unpricedTokens: number;
    readonly usd: number;
  };
}

export interface Quote {
  readonly turn: string;
  readonly text: string;
  readonly by?: string;
  readonly at?: string;
}

export interface Schedule {
  readonly state: string;
  readonly reasons: readonly string[];
  readonly job?: string;
  readonly signals?: readonly {
    readonly source: string;
    readonly state: string;
    readonly why: string;
    readonly sees?: string;
    readonly until?: string;
  }[];
  readonly budget?: {
    readonly spent: { readonly minutes: number; readonly tokens: number; readonly usd: number };
    readonly limits: { readonly minutes: number; readonly tokens: number; readonly usd: number };
  };
  readonly jobs?: readonly { readonly name: string; readonly note?: string; readonly lastDone?: string }[];
  readonly next?: {
    readonly from?: string;
    readonly until?: string;
    readonly source?: string;
    readonly why: string;
  };
}

export interface SessionRow {
  readonly id: string;
  readonly agent: string;
  readonly client?: string;
  readonly project?: Project;
  readonly turns: number;
  readonly startedAt: string;
  readonly lastAt: string;
  readonly endedAt?: string;
  readonly erased?: boolean;
  readonly asked?: string;
  readonly answered?: string;
  readonly score?: number;
  readonly rewards?: readonly Reward[];
}

export interface SessionPage {
  readonly sessions: readonly SessionRow[];
  readonly next?: string;
  readonly searched?: { readonly sessions: number; readonly back?: string };
}

export interface Facets {
  readonly agents: readonly { readonly name: string; readonly sessions: number }[];
  readonly projects: readonly { readonly id: string; readonly label: string; readonly sessions: number }[];
  readonly clients: readonly { readonly name: string; readonly sessions: number; readonly lastAt?: string }[];
}

export interface ThreadMessage {
  readonly role: 'user' | 'assistant' | 'tool' | 'system';
  readonly text: string;
  readonly callId?: string;
  readonly isError?: boolean;
}

export type ReplyPart =
  | { readonly type: 'text' | 'reasoning'; readonly text: string }
  | { readonly type: 'tool-call'; readonly id?: string; readonly name: string; readonly arguments: string };

export interface ThreadTurn {
  readonly n: number;
  readonly id: string;
  readonly status: string;
  readonly role: string;
  readonly runKind?: string;
  readonly model: string;
  readonly policy: string;
  readonly generation: number;
  readonly startedAt: string;
  readonly failure?: string;
  readonly missing?: string;
  readonly asked?: string;
  readonly answered?: string;
  readonly messages?: readonly ThreadMessage[];
  readonly reply?: readonly ReplyPart[];
  readonly rewards: readonly Reward[];
  readonly verdict?: string;
  readonly reward?: number;
  readonly judgedBy?: string;
  readonly reasons?: readonly string[];
  readonly lessons: readonly { readonly id: string; readonly name: string }[];
  readonly usage?: {
    readonly inputTokens?: number;
    readonly outputTokens?: number;
    readonly cacheReadTokens?: number;
  };
  readonly firstByteMs?: number;
  readonly totalMs?: number;
  readonly usd?: number;
}

export interface Thread extends Omit<SessionRow, 'turns' | 'rewards'> {
  readonly hash: string;
  readonly rewards: readonly Reward[];
  readonly marked?: string;
  readonly turnCount: number;
  readonly hidden?: number;
  readonly earlier?: number;
  readonly later?: number;
  readonly totals: {
    readonly inputTokens: number;
    readonly outputTokens: number;
    readonly cacheReadTokens: number;
    readonly usd: number;
    readonly isPriced: boolean;
    readonly ms: number;
  };
  readonly turns: readonly ThreadTurn[];
}

export interface TurnReasons {
  readonly note?: string;
  readonly lessons: readonly {
    readonly id: string;
    readonly name: string;
    readonly verdict: string;
    readonly because: string;
    readonly relevance?: number;
  }[];
  readonly choices: readonly { readonly text?: string; readonly engine?: string }[];
  readonly route?: { readonly tier: string; readonly target?: string; readonly reason?: string };
}

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
  readonly linked?: readonly { readonly id: string; readonly name: string; readonly state: string }[];
  readonly sessions?: readonly { readonly turn: string; readonly session: string }[];
}

export interface Growth {
  readonly days: readonly {
    readonly day: string;
    readonly turns: number;
    readonly successes: number;
    readonly failures: number;
    readonly success: Interval | null;
    readonly scored: number;
    readonly reward: Interval | null;
  }[];
  readonly marks: readonly GrowthMark[];
  readonly total: {
    readonly turns: number;
    readonly successes: number;
    readonly failures: number;
    readonly scored: number;
  };
  readonly split?: { readonly at: string; readonly success: BeforeAfter; readonly reward: BeforeAfter };
}

export interface GrowthMark {
  readonly at: string;
  readonly kind: 'generation' | 'policy';
  readonly label: string;
  readonly generation?: number;
  readonly version?: number;
}

export interface MeasuredPart {
  readonly n: number;
  readonly mean: number | null;
  readonly low: number | null;
  readonly high: number | null;
}

export interface BeforeAfter {
  readonly before: MeasuredPart;
  readonly after: MeasuredPart;
  readonly difference: Interval | null;
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

export interface Spent {
  readonly tokens?: number;
  readonly usd?: number;
  readonly unpriced?: number;
}

export interface PracticeSession {
  readonly run: string;
  readonly kind: string;
  readonly why: string;
  readonly at: string;
  readonly tasks: number;
  readonly end: string;
  readonly note?: string;
  readonly learned?: number;
  readonly helpful?: number;
  readonly refused?: number;
  readonly forgotten?: number;
  readonly spent?: Spent;
}

export interface Practice {
  readonly whyNot?: string;
  readonly problem?: string;
  readonly due?: { readonly kind?: string; readonly why?: string };
  readonly running?: Readonly<Record<string, unknown>>;
  readonly tasks: {
    readonly count: number;
    readonly learn: number;
    readonly gate: number;
    readonly report: number;
    readonly excluded: number;
  };
  readonly faults?: readonly {
    readonly file: string;
    readonly line: number;
    readonly what: string;
    readonly fix: string;
  }[];
  readonly sessions: readonly PracticeSession[];
  readonly yields: readonly {
    readonly kind: string;
    readonly sessions: number;
    readonly learned: number;
    readonly helpful: number;
    readonly tokens: number;
    readonly usd: number;
  }[];
}

export interface PracticeTasks {
  readonly count: number;
  readonly tasks: readonly {
    readonly id: string;
    readonly origin: string;
    readonly domain: string;
    readonly split: string;
    readonly prompt: string;
    readonly check?: string;
    readonly expected: number;
    readonly practised: number;
  }[];
}

export interface PracticeReport extends PracticeSession {
  readonly attemptedBy?: readonly string[];
  readonly counts?: Readonly<Record<string, number>>;
  readonly stages?: readonly {
    readonly stage: string;
    readonly calls: number;
    readonly tokens: number;
    readonly usd: number;
  }[];
  readonly perTask?: readonly {
    readonly id: string;
    readonly prompt?: string;
    readonly domain?: string;
    readonly origin?: string;
    readonly rewards: readonly number[];
    readonly failed: number;
    readonly outputs?: readonly string[];
  }[];
  readonly lessons?: readonly {
    readonly id: string;
    readonly name: string;
    readonly outcome: string;
    readonly why: readonly string[];
    readonly state?: string;
    readonly says?: string;
    readonly tested?: string;
  }[];
}

export interface Training {
  readonly engine: string;
  readonly policy: string;
  readonly engineState?: string;
  readonly problem?: string;
  readonly generation: number;
  readonly buffer: { readonly query: number; readonly support: number };
  readonly supply?: {
    readonly ready?: readonly unknown[];
    readonly missing?: readonly { readonly what: string; readonly fix?: string }[];
  };
  readonly versions?: {
    readonly live: number;
    readonly previous?: number;
    readonly onTrial?: PolicyStage;
    readonly waiting?: PolicyStage;
  };
  readonly window?: {
    readonly steps: number;
    readonly done: number;
    readonly isRunning: boolean;
    readonly problem?: string;
  };
  readonly steps?: readonly TrainingStep[];
  readonly moves?: readonly {
    readonly at: string;
    readonly version: number;
    readonly from?: string;
    readonly to: string;
    readonly by: string;
    readonly why: string;
  }[];
  readonly windows?: readonly {
    readonly from: string;
    readonly until?: string;
    readonly source?: string;
    readonly why: string;
  }[];
  readonly schedule?: { readonly state: string; readonly reasons: readonly string[] };
}

export interface PolicyStage {
  readonly version: number;
  readonly stage: string;
  readonly tasks: number;
  readonly sessions: number;
}

export interface TrainingStep {
  readonly n: number;
  readonly version?: number;
  readonly reward?: number;
  readonly completion?: number;
  readonly kl?: number;
  readonly referenceKl?: number;
  readonly ratio?: number;
  readonly entropy?: number;
  readonly gradNorm?: number;
  readonly tokens?: number;
  readonly outcome: string;
  readonly why?: string;
}

export interface Memory {
  readonly notes: readonly MemoryNote[];
  readonly links: readonly { readonly from: string; readonly to: string }[];
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

export interface Setup {
  readonly url: string;
  readonly home?: string;
  readonly keyFile?: string;
  readonly clients: readonly {
    readonly name: string;
    readonly title?: string;
    readonly connect: string;
    readonly undo: string;
    readonly seen?: { readonly sessions: number; readonly lastAt: string };
  }[];
}

export interface Settings {
  readonly file: string;
  readonly problem?: string;
  readonly settings: readonly {
    readonly path: string;
    readonly value: unknown;
    readonly from: string;
    readonly inForce?: unknown;
    readonly description?: string;
  }[];
}

export interface Key {
  readonly id: string;
  readonly name: string;
  readonly may: readonly string[];
  readonly createdAt?: string;
  readonly revokedAt?: string;
}
