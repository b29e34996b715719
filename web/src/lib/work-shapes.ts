/** What the API answers about the work: health, sessions, growth. As far as the page reads it; times are ISO strings. */

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
  /** The number of the turn that the address names, when this session has it. */
  readonly at?: number;
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
