import { asObject, asString, parseJson } from '../core/json.ts';
import { headerText } from './caller-text.ts';
import type { Clues } from './clues.ts';

/** The client's own ids of a conversation and of its parent. Raw text: `toCallerId` makes it safe to store. */
export interface NamedSession {
  readonly id: string;
  readonly parent?: string;
}

/** The first source that has an id: Instar's header, MetaClaw's, then the clients' own. */
export function namedSession(clues: Clues): NamedSession | undefined {
  return (
    fromHeader(clues) ?? fromClaudeCode(clues) ?? fromCodex(clues) ?? fromAffinity(clues) ?? fromBody(clues)
  );
}

function fromHeader({ headers }: Clues): NamedSession | undefined {
  const given = headerText(headers, 'x-instar-session');
  if (given !== undefined) return { id: given };
  // The header of MetaClaw and OpenCode; OpenCode also names a sub-agent's parent session.
  const id = headerText(headers, 'x-session-id');
  return id === undefined ? undefined : named(id, headerText(headers, 'x-parent-session-id'));
}

/**
 * Claude Code's sub-agents share their parent's session id, but each is a conversation of its own: the block that is
 * frozen for one must not appear in the other.
 */
function fromClaudeCode(clues: Clues): NamedSession | undefined {
  const { headers } = clues;
  const session = headerText(headers, 'x-claude-code-session-id') ?? claudeUser(clues);
  if (session === undefined) return undefined;
  const agent = headerText(headers, 'x-claude-code-agent-id');
  if (agent === undefined) return { id: session };
  const parent = headerText(headers, 'x-claude-code-parent-agent-id');
  return { id: `${session}:${agent}`, parent: parent === undefined ? session : `${session}:${parent}` };
}

const LARGEST_METADATA = 8192;

/** From the body's `metadata.user_id`: JSON text with a session id; older versions wrote `…_session_ID`. */
function claudeUser({ places, client }: Clues): string | undefined {
  const span = client === 'claude-code' ? places.member('metadata') : undefined;
  if (span === undefined || span[1] - span[0] > LARGEST_METADATA) return undefined;
  const user = asString(asObject(parseJson(places.bytes.toString('utf8', ...span))).user_id) ?? '';
  return asString(asObject(parseJson(user)).session_id) ?? /_session_([\w-]{8,})$/.exec(user)?.[1];
}

/** Codex uses one session id for a thread and its sub-agents' threads, so the thread is the conversation. */
function fromCodex({ headers, codex: turn, client }: Clues): NamedSession | undefined {
  if (client !== 'codex') return undefined;
  const thread = headerText(headers, 'thread-id') ?? turn?.thread;
  const parent = headerText(headers, 'x-codex-parent-thread-id') ?? turn?.parentThread;
  const id = thread ?? headerText(headers, 'session-id') ?? headerText(headers, 'session_id');
  return id === undefined ? undefined : named(id, parent);
}

/** Headers for sticky routing carry a session id. OpenClaw appends `:N`, the number of the context window. */
function fromAffinity({ headers }: Clues): NamedSession | undefined {
  for (const name of ['session_id', 'session-id', 'x-session-affinity']) {
    const id = headerText(headers, name);
    if (id !== undefined) return { id: withoutWindow(id) };
  }
  return undefined;
}

const UNIQUE = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|^ses_\w{16,}/i;

/** A cache key counts as a session id only if it contains a unique id: many programs use one key for all sessions. */
function fromBody({ places, openclaw }: Clues): NamedSession | undefined {
  if (openclaw?.sessionId !== undefined) return { id: openclaw.sessionId };
  const key = places.text('prompt_cache_key');
  return key !== undefined && UNIQUE.test(key) ? { id: withoutWindow(key) } : undefined;
}

const withoutWindow = (id: string): string => id.replace(/(?<=.):\d{1,6}$/, '');

const named = (id: string, parent: string | undefined): NamedSession =>
  parent === undefined || parent === id ? { id } : { id, parent };
