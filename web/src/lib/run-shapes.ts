/** What the API answers about practice, training and set-up. As far as the page reads it; times are ISO strings. */

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
  readonly windows?: readonly PlannedWindow[];
  readonly schedule?: { readonly state: string; readonly reasons: readonly string[] };
}

/** A time in which background jobs may run. */
export interface PlannedWindow {
  readonly from: string;
  readonly until?: string;
  readonly source?: string;
  readonly why: string;
  /** The jobs that wait for one. */
  readonly for?: readonly string[];
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
  readonly loss?: number;
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
