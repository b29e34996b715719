import type { z } from 'zod';
import type { PAGE_ROUTES } from '../../../src/api/router/page-routes.ts';
import type { NamedMembers, ReplyOf } from '../../../src/api/router/route-shape.ts';
import type { ROUTES } from '../../../src/api/router/routes.ts';
import type { shapes } from '../../../src/api/router/shapes.ts';

/** What the API answers, from its route table. Times are ISO strings. */

type Page<Name extends keyof typeof PAGE_ROUTES> = ReplyOf<(typeof PAGE_ROUTES)[Name]>;
type Reply<Name extends keyof typeof ROUTES> = ReplyOf<(typeof ROUTES)[Name]>;
type Shape<Name extends 'status'> = NamedMembers<z.output<(typeof shapes)[Name]>>;

export type Status = Shape<'status'>;
export type Waiting = NonNullable<Status['waiting']>[number];
export type Home = Page<'pageHome'>;
export type Facets = Page<'pageFacets'>;
export type SessionPage = Page<'pageSessions'>;
export type SessionRow = SessionPage['sessions'][number];
export type Thread = Page<'pageThread'>;
export type ThreadTurn = Thread['turns'][number];
export type ThreadMessage = NonNullable<ThreadTurn['messages']>[number];
export type ReplyPart = NonNullable<ThreadTurn['reply']>[number];
export type TurnReasons = Page<'pageWhy'>;

export type LessonPage = Page<'pageLessons'>;
export type LessonRow = LessonPage['lessons'][number];
export type Lesson = Page<'pageLesson'>;
export type Scope = LessonRow['scope'];
export type Adherence = LessonRow['adherence'];
export type GenerationPage = Page<'pageGenerations'>;
export type GenerationDiff = Page<'pageDiff'>;
export type LessonText = Omit<GenerationDiff['revised'][number]['before'], 'title'>;
export type Adaptation = Page<'pageAdaptation'>;
export type Candidate = Adaptation['candidates'][number];

export type Practice = Reply<'practiceStatus'>;
export type PracticeSession = Practice['sessions'][number];
export type Training = Page<'pageTraining'>;
export type TrainingStep = Training['steps'][number];
export type PolicyStage = NonNullable<NonNullable<Training['versions']>['onTrial']>;
export type PlannedWindow = Training['windows'][number];
export type Setup = Page<'pageSetup'>;
export type Settings = Reply<'settings'>;
export type Key = Reply<'keys'>[number];

/** What `POST /api/practice/tasks` answers. */
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

/** What `POST /api/practice/report` answers. */
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
    /** What each reward is made of, where the owner weighs its parts. */
    readonly parts?: readonly string[];
    readonly failed: number;
    readonly outputs?: readonly string[];
  }[];
  readonly lessons?: readonly {
    readonly id: string;
    readonly title: string;
    readonly outcome: string;
    readonly why: readonly string[];
    readonly state?: string;
    readonly says?: string;
    readonly tested?: string;
  }[];
}
