import { z } from 'zod';
import { LESSON_KINDS, LESSON_STATES } from '../../core/lesson.ts';
import type { RouteShape } from './route-shape.ts';
import { shapes as is } from './shapes.ts';

const emptyBody = () => is.object;

/** How a browser becomes the owner's, and what it is told from then on. */
const SIGN_IN_ROUTES = {
  isSignedIn: {
    method: 'GET',
    path: '/api/login',
    access: 'anyone',
    says: 'Whether this browser is signed in.',
    reply: () => z.looseObject({ in: z.boolean() }),
  },
  login: {
    method: 'POST',
    path: '/api/login',
    access: 'anyone',
    says: 'Signs a browser in with a one-time code. What the page asks then carries the cookie and, in x-instar-page, the word.',
    body: () => z.looseObject({ code: z.string('code must be the code of the address.').max(200) }),
    reply: () => z.looseObject({ ok: z.literal(true), word: is.text }),
  },
  logout: {
    method: 'POST',
    path: '/api/logout',
    access: 'anyone',
    says: 'Signs this browser out.',
    body: emptyBody,
    reply: () => is.done,
  },
  signOutAll: {
    method: 'POST',
    path: '/api/sign-out',
    access: 'owner',
    says: 'Signs every browser out.',
    body: emptyBody,
    reply: () => is.done,
  },
  pageCode: {
    method: 'POST',
    path: '/api/code',
    access: 'owner',
    says: 'A one-time code for the page, for the owner key alone.',
    body: emptyBody,
    reply: () => z.looseObject({ url: is.text, code: is.text, expiresAt: is.time, hasPage: z.boolean() }),
  },
  feed: {
    method: 'GET',
    path: '/api/feed',
    access: 'owner',
    says: 'What happens, as server-sent events; resumes after Last-Event-ID.',
    reply: { type: 'text/event-stream' },
  },
} as const satisfies Readonly<Record<string, RouteShape>>;

/** How a session went: the last word of a person, else the last reward, else its score. */
const outcome = z.enum(['good', 'bad']);

const listedSession = () =>
  is.session.extend({
    turns: is.count,
    asked: is.text.optional(),
    answered: is.text.optional(),
    score: z.number().optional(),
    outcome: outcome.optional(),
    lessons: is.count.optional(),
    isPractice: z.literal(true).optional(),
  });

const threadTurn = () =>
  is.turn.extend({
    n: is.count,
    lessons: z.array(is.revisionRef),
    messages: z
      .array(
        z.looseObject({
          role: z.enum(['user', 'assistant', 'tool', 'system']),
          text: is.text,
          callId: is.text.optional(),
          isError: z.boolean().optional(),
        }),
      )
      .optional(),
    reply: z
      .array(
        z.union([
          z.looseObject({ type: z.enum(['text', 'reasoning']), text: is.text }),
          z.looseObject({
            type: z.literal('tool-call'),
            id: is.text.optional(),
            name: is.text,
            arguments: is.text,
          }),
        ]),
      )
      .optional(),
    verdict: is.text.optional(),
    reward: z.number().optional(),
    judgedBy: is.text.optional(),
    mark: is.reward.optional(),
    reasons: z.array(is.text).optional(),
    firstByteMs: z.number().optional(),
    totalMs: z.number().optional(),
    usd: z.number().optional(),
  });

const revisionText = () =>
  z.looseObject({ name: is.text, title: is.text, description: is.text, content: is.text });
const shownRevision = () => revisionText().extend({ id: is.text, revision: is.count, kind: is.text });

const lessonPage = () =>
  is.shownLesson.extend({
    revisions: z.array(
      revisionText()
        .partial()
        .extend({ revision: is.count, at: is.time, by: is.text, erased: z.boolean().optional() }),
    ),
    sessions: z.array(z.looseObject({ turn: is.text, session: is.text })),
  });

/** The state that a person was shown: a change for another one is refused with 409. */
const shown = z.string('shown must be the hash of what you were shown.').max(200);
const cursor = is.word;

/** The routes that are made for the page: lists in pages, and everything that one view needs in one reply. */
export const PAGE_ROUTES = {
  ...SIGN_IN_ROUTES,
  pageSessions: {
    method: 'GET',
    path: '/api/page/sessions',
    access: 'owner',
    says: 'Sessions, newest first, in pages; `q` searches their words for a bounded time.',
    query: () =>
      z.object({
        q: is.word,
        agent: is.word,
        project: is.word,
        client: is.word,
        from: is.wholeNumber(),
        to: is.wholeNumber(),
        outcome: z.enum(['good', 'bad', 'rated']).optional().catch(undefined),
        lesson: is.word,
        arm: z.enum(['with', 'without']).optional().catch(undefined),
        since: is.wholeNumber(),
        practice: is.isYes,
        cursor,
        limit: is.rows(50, 200),
      }),
    reply: () =>
      z.looseObject({
        sessions: z.array(listedSession()),
        next: is.text.optional(),
        searched: z.looseObject({ sessions: is.count, back: is.time.optional() }).optional(),
      }),
  },
  pageFacets: {
    method: 'GET',
    path: '/api/page/facets',
    access: 'owner',
    says: 'The agents, projects and clients that there are sessions of, and what of the laboratory was used.',
    reply: () =>
      z.looseObject({
        agents: z.array(z.looseObject({ name: is.text, sessions: is.count, lastAt: is.time })),
        projects: z.array(z.looseObject({ id: is.text, label: is.text, sessions: is.count })),
        clients: z.array(z.looseObject({ name: is.text, sessions: is.count, lastAt: is.time })),
        lab: z.array(z.enum(['practice', 'training', 'adaptation'])),
      }),
  },
  pageThread: {
    method: 'GET',
    path: '/api/page/sessions/:id',
    access: 'owner',
    says: 'A conversation, turn by turn, with rewards, lessons, tokens, cost and times.',
    noun: 'session',
    query: () => z.object({ from: is.wholeNumber(), turn: is.word, limit: is.rows(30, 200), aux: is.isYes }),
    reply: () =>
      is.session.extend({
        hash: is.text,
        rewards: z.array(is.reward),
        turnCount: is.count,
        asked: is.text.optional(),
        score: z.number().optional(),
        outcome: outcome.optional(),
        marked: is.text.optional(),
        at: is.count.optional(),
        hidden: is.count.optional(),
        earlier: is.count.optional(),
        later: is.count.optional(),
        totals: z.looseObject({
          inputTokens: is.count,
          outputTokens: is.count,
          cacheReadTokens: is.count,
          usd: z.number(),
          isPriced: z.boolean(),
          ms: z.number(),
        }),
        turns: z.array(threadTurn()),
      }),
  },
  pageWhy: {
    method: 'GET',
    path: '/api/page/turns/:id/why',
    access: 'owner',
    says: 'Why a turn was shown its lessons, and why not others that were considered.',
    noun: 'turn',
    reply: is.explainedTurn,
  },
  pageLessons: {
    method: 'GET',
    path: '/api/page/lessons',
    access: 'owner',
    says: 'Lessons, the last changed first, in pages.',
    query: () =>
      z.object({
        state: z.enum(LESSON_STATES).optional().catch(undefined),
        kind: z.enum(LESSON_KINDS).optional().catch(undefined),
        agent: is.word,
        q: is.word,
        cursor,
        limit: is.rows(100, 500),
      }),
    reply: () =>
      z.looseObject({
        lessons: z.array(is.lesson),
        next: is.text.optional(),
        total: is.count,
        counts: z.looseObject({
          states: z.record(is.text, is.count),
          kinds: z.record(is.text, is.count),
        }),
      }),
  },
  pageLesson: {
    method: 'GET',
    path: '/api/page/lessons/:id',
    access: 'owner',
    says: 'A lesson with all its revisions and the sessions of its evidence.',
    noun: 'lesson',
    reply: lessonPage,
  },
  pageHome: {
    method: 'GET',
    path: '/api/page/home',
    access: 'owner',
    says: 'Corrections and broken rules of the last 30 days, the rules in force and how they are kept, and what waits for a decision.',
    query: () => z.object({ offset: z.coerce.number().int().min(-840).max(840).optional().catch(undefined) }),
    reply: () =>
      z.looseObject({
        days: z.array(
          z.looseObject({
            day: z.iso.date(),
            sessions: is.count,
            corrections: is.count,
            broken: is.count,
            perTen: z.looseObject({ corrections: z.number(), broken: z.number() }).optional(),
          }),
        ),
        trend: z.looseObject({
          is: z.enum(['none', 'early', 'better', 'worse', 'same']),
          words: is.text,
          before: z.number().optional(),
          after: z.number().optional(),
        }),
        flags: z.array(is.revisionRef.extend({ at: is.time })),
        rules: z.array(is.lesson.extend({ said: is.count, isTold: z.boolean() })),
        ruleCount: is.count,
        decide: z.array(z.looseObject({ id: is.text, title: is.text })),
        decideCount: is.count,
        asks: z.array(
          z.looseObject({
            turn: is.text,
            session: is.text,
            agent: is.text,
            at: is.time,
            asked: is.text.optional(),
            answered: is.text.optional(),
          }),
        ),
      }),
  },
  pageGenerations: {
    method: 'GET',
    path: '/api/page/generations',
    access: 'owner',
    says: 'Generations with their changes, newest first, in pages.',
    query: () => z.object({ cursor, limit: is.rows(100, 500) }),
    reply: () =>
      z.looseObject({
        generation: is.count,
        generations: z.array(
          z.looseObject({
            generation: is.count,
            at: is.time,
            reason: is.text,
            by: is.text,
            changes: z.array(z.looseObject({ op: is.text, id: is.text, name: is.text, title: is.text })),
          }),
        ),
        next: is.text.optional(),
      }),
  },
  pageDiff: {
    method: 'GET',
    path: '/api/page/generations/:id/diff',
    access: 'owner',
    says: 'What changed between two generations, with the texts.',
    noun: 'generation',
    query: () => z.object({ to: is.word }),
    reply: () =>
      z.looseObject({
        from: is.count,
        to: is.count,
        added: z.array(shownRevision()),
        removed: z.array(shownRevision()),
        revised: z.array(
          z.looseObject({
            id: is.text,
            name: is.text,
            title: is.text,
            kind: is.text,
            before: revisionText(),
            after: revisionText(),
          }),
        ),
      }),
  },
  pageAdaptation: {
    method: 'GET',
    path: '/api/page/adaptation',
    access: 'owner',
    says: 'Events, candidates with their arithmetic, and the overlays in force.',
    reply: () => is.adaptation.extend({ overlays: z.array(is.overlay.extend({ hash: is.text })) }),
  },
  pageTraining: {
    method: 'GET',
    path: '/api/page/training',
    access: 'owner',
    says: 'The buffer, the steps, the versions, and the windows of the next 24 hours.',
    reply: () =>
      is.training.extend({
        steps: z.array(
          z.looseObject({
            n: is.count,
            outcome: is.text,
            why: is.text.optional(),
            version: is.count.optional(),
            reward: z.number().optional(),
            completion: z.number().optional(),
            loss: z.number().optional(),
            kl: z.number().optional(),
            ratio: z.number().optional(),
            entropy: z.number().optional(),
            gradNorm: z.number().optional(),
            tokens: z.number().optional(),
          }),
        ),
        moves: z.array(
          z.looseObject({
            at: is.time,
            version: is.count,
            from: is.text.optional(),
            to: is.text,
            by: is.text,
            why: is.text,
          }),
        ),
        windows: z.array(is.window),
        schedule: z.looseObject({ state: is.text, reasons: z.array(is.text) }),
      }),
  },
  pageSetup: {
    method: 'GET',
    path: '/api/page/setup',
    access: 'owner',
    says: 'Clients and how to connect them, which were seen, and all settings with what they are for.',
    reply: () =>
      z.looseObject({
        url: is.text,
        home: is.text,
        keyFile: is.text,
        file: is.text,
        settings: z.array(z.looseObject({ path: is.text, from: is.text, description: is.text.optional() })),
        clients: z.array(
          z.looseObject({
            name: is.text,
            title: is.text,
            connect: is.text,
            undo: is.text,
            seen: z.looseObject({ sessions: is.count, lastAt: is.time }).optional(),
          }),
        ),
      }),
  },
  rateTurn: {
    method: 'POST',
    path: '/api/page/turns/:id/rate',
    access: 'owner',
    says: 'A person’s reward for a turn.',
    noun: 'turn',
    body: () =>
      z.looseObject({
        score: z
          .number('score must be a number from -1 to 1.')
          .min(-1, 'score must be a number from -1 to 1.')
          .max(1, 'score must be a number from -1 to 1.'),
        note: z.string('note must be text.').max(4000, 'note may have at most 4000 characters.').optional(),
      }),
    reply: () => is.done,
  },
  markSession: {
    method: 'POST',
    path: '/api/page/sessions/:id/mark',
    access: 'owner',
    says: 'Marks a session as worth practising on.',
    noun: 'session',
    body: () => z.looseObject({ shown }),
    reply: () => is.done,
  },
  eraseShown: {
    method: 'POST',
    path: '/api/page/sessions/:id/erase',
    access: 'owner',
    says: 'Erases a session for good, if it is still as it was shown.',
    noun: 'session',
    body: () => z.looseObject({ shown }),
    reply: () => is.erasure,
  },
  decideLesson: {
    method: 'POST',
    path: '/api/page/lessons/:id',
    access: 'owner',
    says: 'A person’s decision about a lesson, if it is still as it was shown.',
    noun: 'lesson',
    body: () =>
      z.looseObject({
        do: z.enum(
          ['approve', 'live', 'reject', 'retire', 'restore', 'pin', 'unpin', 'freeze', 'unfreeze', 'edit'],
          'do must be approve, live, reject, retire, restore, pin, unpin, freeze, unfreeze or edit.',
        ),
        shown,
        reason: z.string().max(500).optional(),
        text: z
          .looseObject({
            name: z.string().optional(),
            description: z.string().optional(),
            content: z.string().optional(),
          })
          .optional(),
      }),
    reply: () => is.done.extend({ generation: is.count, lesson: lessonPage() }),
  },
  rollbackShown: {
    method: 'POST',
    path: '/api/page/generations/:id/rollback',
    access: 'owner',
    says: 'Restores a generation, if the one in force is still the one that was shown.',
    noun: 'generation',
    body: () => z.looseObject({ shown: z.number('shown must be the number of the generation in force.') }),
    reply: () => is.published,
  },
} as const satisfies Readonly<Record<string, RouteShape>>;
