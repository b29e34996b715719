import { z } from 'zod';
import { CLIENT_ROUTES } from './client-routes.ts';
import type { RouteShape } from './route-shape.ts';
import { shapes as is } from './shapes.ts';

const sessionPart = () =>
  z.object({
    from: is.wholeNumber(),
    limit: is.wholeNumber(),
    hidesAux: is.isYes,
    full: is.isYes,
  });

/** Every route of the API that programs and the command line use. `PAGE_ROUTES` has those that are made for the page. */
export const ROUTES = {
  ...CLIENT_ROUTES,
  sessions: {
    method: 'GET',
    path: '/api/sessions',
    access: 'owner',
    says: 'Recorded sessions, newest first.',
    query: () =>
      z.object({
        limit: is.rows(50, 1000),
        before: is.wholeNumber(),
        agent: is.word,
        project: is.word,
        preview: is.isYes,
        practice: is.isYes,
      }),
    reply: () => z.array(is.session),
  },
  session: {
    method: 'GET',
    path: '/api/sessions/:id',
    access: 'owner',
    says: 'A session with its turns.',
    noun: 'session',
    query: sessionPart,
    reply: () => is.session.extend({ turns: z.array(is.turn), turnCount: is.count }),
  },
  trajectory: {
    method: 'GET',
    path: '/api/sessions/:id/trajectory',
    access: 'owner',
    says: 'A session with the requests and replies of its turns, as they are stored.',
    noun: 'session',
    reply: () => is.session.extend({ turns: z.array(is.turn) }),
  },
  eraseSession: {
    method: 'DELETE',
    path: '/api/sessions/:id',
    access: 'owner',
    says: 'Erases a session for good, with what was learned from it alone.',
    noun: 'session',
    reply: () => is.erasure,
  },
  library: {
    method: 'GET',
    path: '/api/library',
    access: 'owner',
    says: 'Every lesson in full.',
    reply: () => is.objects,
  },
  lesson: {
    method: 'GET',
    path: '/api/lessons/:id',
    access: 'owner',
    says: 'One lesson with its evidence and its history, by id or name.',
    noun: 'lesson',
    reply: () => is.shownLesson,
  },
  newestTurn: {
    method: 'GET',
    path: '/api/turns',
    access: 'owner',
    says: 'The newest turn of an agent, or of the first of these projects that has one.',
    query: () => z.object({ agent: is.word, projects: is.word }),
    reply: () => z.looseObject({ turn: is.turn.nullable() }),
  },
  turn: {
    method: 'GET',
    path: '/api/turns/:id',
    access: 'owner',
    says: 'One turn with the question it works on.',
    noun: 'turn',
    reply: () => is.turn.extend({ session: is.text, agent: is.text }),
  },
  why: {
    method: 'GET',
    path: '/api/turns/:id/why',
    access: 'owner',
    says: 'Which lessons a turn was shown, which not, and why.',
    noun: 'turn',
    reply: () =>
      z.looseObject({
        turn: is.text,
        session: is.text,
        shown: z.array(is.revisionRef),
        lessons: z.array(z.looseObject({ id: is.text, name: is.text, verdict: is.text, because: is.text })),
        choices: is.objects,
      }),
  },
  changeLessons: {
    method: 'POST',
    path: '/api/lessons',
    access: 'owner',
    says: 'A person’s changes of lessons, published as one set.',
    body: () => is.object,
    reply: () => is.published,
  },
  review: {
    method: 'GET',
    path: '/api/review',
    access: 'owner',
    says: 'Lessons that need attention.',
    reply: () =>
      z.looseObject({
        waiting: z.array(is.revisionRef),
        same: is.objects,
        contradictions: is.objects,
        forgettable: is.objects,
        changes: is.objects,
      }),
  },
  startTraining: {
    method: 'POST',
    path: '/api/train/run',
    access: 'owner',
    says: 'Starts a training window now.',
    body: () =>
      z.looseObject({
        steps: z
          .number('steps must be a whole number from 1 to 10000.')
          .int('steps must be a whole number from 1 to 10000.')
          .min(1, 'steps must be a whole number from 1 to 10000.')
          .max(10_000, 'steps must be a whole number from 1 to 10000.')
          .optional(),
      }),
    reply: () => z.looseObject({ started: z.boolean() }),
  },
  promoteWeights: {
    method: 'POST',
    path: '/api/train/promote',
    access: 'owner',
    says: 'Moves weights one stage on.',
    reply: () => is.objects,
  },
  rollbackWeights: {
    method: 'POST',
    path: '/api/train/rollback',
    access: 'owner',
    says: 'Moves weights back.',
    reply: () => is.objects,
  },
  practiceStatus: {
    method: 'GET',
    path: '/api/practice',
    access: 'owner',
    says: 'Tasks and sessions of practice, and what is due.',
    reply: () => z.looseObject({ tasks: z.looseObject({ count: is.count }), sessions: is.objects }),
  },
  practice: {
    method: 'POST',
    path: '/api/practice/:id',
    access: 'owner',
    says: 'An operation of practice: plan, run, stop, report, tasks, task, add or exclude.',
    noun: 'operation',
    body: () => is.object,
    reply: () => is.object,
  },
  switchLearning: {
    method: 'POST',
    path: '/api/learning',
    access: 'owner',
    says: 'Turns learning on or off, for good.',
    body: () => z.looseObject({ on: z.boolean('on must be true or false.') }),
    reply: () => z.looseObject({ on: z.boolean(), was: z.boolean() }),
  },
  today: {
    method: 'GET',
    path: '/api/today',
    access: 'owner',
    says: 'What was learned and changed since midnight, and what it cost.',
    reply: () => z.looseObject({ from: is.time, to: is.time, generation: is.count, learned: is.objects }),
  },
  suggestWindows: {
    method: 'GET',
    path: '/api/schedule/suggest',
    access: 'owner',
    says: 'Quiet hours that the recorded activity suggests.',
    reply: () => z.looseObject({ turns: is.count, evidence: z.array(z.unknown()) }),
  },
  confirmTime: {
    method: 'POST',
    path: '/api/time/confirm',
    access: 'owner',
    says: 'A person says that the clock is right.',
    reply: () => is.object,
  },
  adaptation: {
    method: 'GET',
    path: '/api/adapt',
    access: 'owner',
    says: 'Events, the candidates that they make, and what became of them.',
    reply: () => is.adaptation,
  },
  keys: {
    method: 'GET',
    path: '/api/keys',
    access: 'owner',
    says: 'The keys of clients; never a key itself.',
    reply: () => z.array(z.looseObject({ id: is.text, name: is.text, may: z.array(is.text) })),
  },
  createKey: {
    method: 'POST',
    path: '/api/keys',
    access: 'owner',
    says: 'A new key for a client.',
    body: () => is.object,
    reply: () => z.looseObject({ id: is.text, name: is.text, key: is.text }),
  },
  revokeKey: {
    method: 'DELETE',
    path: '/api/keys/:id',
    access: 'owner',
    says: 'Revokes a key, by id or name.',
    noun: 'key',
    reply: () => is.objects,
  },
  settings: {
    method: 'GET',
    path: '/api/config',
    access: 'owner',
    says: 'All settings, with where their values come from.',
    reply: () =>
      z.looseObject({
        file: is.text,
        settings: z.array(z.looseObject({ path: is.text, from: z.enum(['default', 'file', 'environment']) })),
      }),
  },
  setSetting: {
    method: 'POST',
    path: '/api/config',
    access: 'owner',
    says: 'Writes one setting into the config file, and uses it.',
    body: () => is.object,
    reply: () => is.object,
  },
  reload: {
    method: 'POST',
    path: '/api/reload',
    access: 'owner',
    says: 'Reads the config file again.',
    reply: () => is.object,
  },
  confirmSettings: {
    method: 'POST',
    path: '/api/settings',
    access: 'owner',
    says: 'Confirms settings of the config that wait for the owner.',
    body: () => is.object,
    reply: () => is.object,
  },
  audit: {
    method: 'GET',
    path: '/api/audit',
    access: 'owner',
    says: 'What keys changed, newest first.',
    query: () => z.object({ limit: is.rows(100, 10_000) }),
    reply: () => z.looseObject({ entries: is.objects }),
  },
  generations: {
    method: 'GET',
    path: '/api/generations',
    access: 'owner',
    says: 'The history of what prompts may contain.',
    reply: () => z.array(z.looseObject({ generation: is.count, at: is.time, reason: is.text, by: is.text })),
  },
  diffGenerations: {
    method: 'GET',
    path: '/api/generations/:id/diff',
    access: 'owner',
    says: 'What changed between two generations.',
    noun: 'generation',
    query: () => z.object({ to: is.word }),
    reply: () =>
      z.looseObject({
        from: is.count,
        to: is.count,
        added: z.array(is.revisionRef),
        removed: z.array(is.revisionRef),
        revised: z.array(is.revisionRef),
      }),
  },
  rollback: {
    method: 'POST',
    path: '/api/generations/:id/rollback',
    access: 'owner',
    says: 'Restores what prompts contained in a generation.',
    noun: 'generation',
    reply: () => is.published,
  },
  backup: {
    method: 'POST',
    path: '/api/backup',
    access: 'owner',
    says: 'Copies everything recorded into a new file of this machine.',
    body: () => z.looseObject({ file: z.string('file must be an absolute path.') }),
    reply: () => z.looseObject({ file: is.text }),
  },
} as const satisfies Readonly<Record<string, RouteShape>>;
