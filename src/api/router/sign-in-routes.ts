import { z } from 'zod';
import type { RouteShape } from './route-shape.ts';
import { shapes as is } from './shapes.ts';

const emptyBody = () => is.object;

/** How a browser becomes the owner's, and what it is told from then on. */
export const SIGN_IN_ROUTES = {
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
