import { z } from 'zod';
import type { RouteShape } from './route-shape.ts';
import { shapes as is } from './shapes.ts';

/** Routes that need a caller key, or none: they tell nobody what others said. */
export const CLIENT_ROUTES = {
  healthz: {
    method: 'GET',
    path: '/healthz',
    access: 'anyone',
    says: 'Whether Instar answers, whether it records, and whether its database is away.',
    reply: () =>
      z.looseObject({
        ok: z.literal(true),
        recording: z.literal(false).optional(),
        database: z.enum(['away', 'catching up']).optional(),
        since: is.text.optional(),
        waitingTurns: z.number().optional(),
      }),
  },
  metrics: {
    method: 'GET',
    path: '/metrics',
    access: 'anyone',
    says: 'Metrics in the format of Prometheus; without a key only that Instar is up.',
    reply: { type: 'text/plain; version=0.0.4; charset=utf-8' },
  },
  openapi: {
    method: 'GET',
    path: '/api/openapi.json',
    access: 'caller',
    says: 'This description.',
    reply: () => z.looseObject({ openapi: is.text, paths: is.object }),
  },
  feedback: {
    method: 'POST',
    path: '/v1/feedback',
    access: 'caller',
    says: 'A reward for a turn or a session.',
    body: () => is.object,
    readsBody: true,
    reply: () => is.done.extend({ fact: is.count, repeated: z.boolean() }),
  },
  events: {
    method: 'POST',
    path: '/v1/events',
    access: 'caller',
    says: 'An event that an agent or a pipeline reports about itself.',
    body: () => is.object,
    readsBody: true,
    reply: () => is.done.extend({ fact: is.count, repeated: z.boolean() }),
  },
  status: {
    method: 'GET',
    path: '/api/status',
    access: 'caller',
    says: 'What runs, what it has served, and what waits.',
    reply: () => z.looseObject({ version: is.text, waiting: z.array(is.waiting).optional() }),
  },
  lessons: {
    method: 'GET',
    path: '/api/lessons',
    access: 'caller',
    says: 'What was learned, with its measured effect.',
    query: () => z.object({ state: is.word, kind: is.word }),
    reply: () => z.array(is.lesson),
  },
  recall: {
    method: 'POST',
    path: '/api/recall',
    access: 'caller',
    says: 'The lessons that a task would be shown.',
    body: () => is.object,
    reply: () => z.looseObject({ text: is.text, lessons: z.array(is.revisionRef) }),
  },
  episode: {
    method: 'GET',
    path: '/api/episodes/:id',
    access: 'caller',
    says: 'The state of an episode.',
    noun: 'episode',
    reply: () => z.looseObject({ state: is.text, attempts: is.count, failed: is.count, learns: z.boolean() }),
  },
  training: {
    method: 'GET',
    path: '/api/train',
    access: 'caller',
    says: 'The engine, the buffer and the versions of the policy.',
    reply: () => is.training,
  },
  learning: {
    method: 'GET',
    path: '/api/learning',
    access: 'caller',
    says: 'Whether Instar learns, and what waits to be learned from.',
    reply: () => z.looseObject({ on: z.boolean(), waiting: z.array(is.waiting).optional() }),
  },
  schedule: {
    method: 'GET',
    path: '/api/schedule',
    access: 'caller',
    says: 'Presence, whether background jobs may run, the next window, and all windows of the next 24 hours.',
    reply: () => z.looseObject({ state: is.text, windows: z.array(is.window) }),
  },
  overlays: {
    method: 'GET',
    path: '/api/overlays',
    access: 'caller',
    says: 'The overlays in force, of one agent unless the owner asks.',
    query: () => z.object({ agent: is.word, project: is.word, runKind: is.word }),
    reply: () => z.array(is.overlay),
  },
} as const satisfies Readonly<Record<string, RouteShape>>;
