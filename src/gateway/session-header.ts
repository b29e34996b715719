import { asObject, asString, parseJson } from '../core/json.ts';
import { headerText } from './caller-text.ts';
import type { Clues } from './clues.ts';

/** A conversation by its client's own name, and the one it was started from. Raw text: not yet fit for keeping. */
export interface NamedSession {
  readonly id: string;
  readonly parent?: string;
}

/** The first that names one: Instar's header, MetaClaw's, then the clients' own ways. */
export function namedSession(clues: Clues): NamedSession | undefined {
  return ours(clues) ?? claude(clues) ?? codex(clues) ?? affinity(clues) ?? inBody(clues);
}

function ours({ headers }: Clues): NamedSession | undefined {
  const given = headerText(headers, 'x-instar-session');
  if (given !== undefined) return { id: given };
  // MetaClaw's header, and OpenCode's, which also names the session that started a sub-agent's.
  const id = headerText(headers, 'x-session-id');
  return id === undefined ? undefined : named(id, headerText(headers, 'x-parent-session-id'));
}

/**
 * Claude Code's sub-agents share their parent's session id, but each is a conversation of its own: what is frozen
 * for the one must not reach the other.
 */
function claude(clues: Clues): NamedSession | undefined {
  const { headers } = clues;
  const session = headerText(headers, 'x-claude-code-session-id') ?? claudeUser(clues);
  if (session === undefined) return undefined;
  const agent = headerText(headers, 'x-claude-code-agent-id');
  if (agent === undefined) return { id: session };
  const parent = headerText(headers, 'x-claude-code-parent-agent-id');
  return { id: `${session}:${agent}`, parent: parent === undefined ? session : `${session}:${parent}` };
}

const LARGEST_METADATA = 8192;

/** The body's `metadata.user_id`: JSON text with a session in it; older versions wrote it behind a word of its own. */
function claudeUser({ places, client }: Clues): string | undefined {
  const span = client === 'claude-code' ? places.member('metadata') : undefined;
  if (span === undefined || span[1] - span[0] > LARGEST_METADATA) return undefined;
  const user = asString(asObject(parseJson(places.bytes.toString('utf8', ...span))).user_id) ?? '';
  return asString(asObject(parseJson(user)).session_id) ?? /_session_([\w-]{8,})$/.exec(user)?.[1];
}

/** Codex's session id is the same for a thread and its sub-agents' threads; the thread is the conversation. */
function codex({ headers, codex: turn, client }: Clues): NamedSession | undefined {
  if (client !== 'codex') return undefined;
  const thread = headerText(headers, 'thread-id') ?? turn?.thread;
  const parent = headerText(headers, 'x-codex-parent-thread-id') ?? turn?.parentThread;
  const id = thread ?? headerText(headers, 'session-id') ?? headerText(headers, 'session_id');
  return id === undefined ? undefined : named(id, parent);
}

/** What keeps a session on one server names the session. OpenClaw counts its context windows behind a colon. */
function affinity({ headers }: Clues): NamedSession | undefined {
  for (const name of ['session_id', 'session-id', 'x-session-affinity']) {
    const id = headerText(headers, name);
    if (id !== undefined) return { id: withoutWindow(id) };
  }
  return undefined;
}

const UNIQUE = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|^ses_\w{16,}/i;

/** A cache key is only taken for a session when it can belong to one alone: many programs use one key for all. */
function inBody({ places, openclaw }: Clues): NamedSession | undefined {
  if (openclaw?.sessionId !== undefined) return { id: openclaw.sessionId };
  const key = places.text('prompt_cache_key');
  return key !== undefined && UNIQUE.test(key) ? { id: withoutWindow(key) } : undefined;
}

const withoutWindow = (id: string): string => id.replace(/(?<=.):\d{1,6}$/, '');

const named = (id: string, parent: string | undefined): NamedSession =>
  parent === undefined || parent === id ? { id } : { id, parent };
