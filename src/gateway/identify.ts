import type { IncomingHttpHeaders } from 'node:http';
import type { Project, TurnRole } from '../core/fact.ts';
import { compact } from '../core/json.ts';
import { createRecent } from '../core/recent.ts';
import { headerId, headerText, toCallerId } from './caller-text.ts';
import type { ClientName } from './client-of.ts';
import { type Arrival, type Clues, type Known, readClues } from './clues.ts';
import { projectOf } from './project-of.ts';
import { namedSession } from './session-header.ts';
import { turnRole } from './turn-role.ts';

/** Who is calling, as far as a request alone can tell. Every text is printable and at most 128 characters long. */
export interface Identity {
  /** The client program, when it was recognised. */
  readonly client?: ClientName;
  /** The conversation, by the client's own name for it. */
  readonly sessionId?: string;
  /** The conversation that started this one, when this is a sub-agent's. */
  readonly parentSession?: string;
  readonly agent?: string;
  readonly role: TurnRole;
  readonly project?: Project;
  readonly runKind?: string;
  readonly domain?: string;
  /** False: to be served, but neither recorded nor learned from. */
  readonly record: boolean;
  /** The caller says that this turn is the session's last. */
  readonly sessionDone: boolean;
}

const MOST_KNOWN = 4000;
/** A client that says nothing of itself in so many turns of a conversation will not say it later. */
const MOST_LOOKS = 3;

/**
 * The same, looking through a conversation's texts for its client and its project only until they are found, and not for
 * ever. Conversations that a header names are remembered; the others are looked at each time.
 */
export function createIdentify(): (arrival: Arrival) => Identity {
  const seen = createRecent<string, Known>(MOST_KNOWN);
  const looked = createRecent<string, number>(MOST_KNOWN);
  return (arrival) => {
    const name = conversationOf(arrival.headers);
    const known = name === undefined ? undefined : seen.get(name);
    const identity = identify(arrival, known);
    if (name === undefined || known !== undefined) return identity;
    const { client, project, role } = identity;
    const isAllFound = client !== undefined && project !== undefined;
    // A title call comes first and does not say where its client works.
    const looks = role === 'main' ? (looked.get(name) ?? 0) + 1 : 0;
    if (isAllFound || looks >= MOST_LOOKS) seen.set(name, { client, project });
    else if (looks > 0) looked.set(name, looks);
    return identity;
  };
}

/** A name for the conversation from headers alone. Another program is another conversation, whatever it calls it. */
function conversationOf(headers: IncomingHttpHeaders): string | undefined {
  const named = SESSION_HEADERS.find((name) => headers[name] !== undefined);
  const session = named === undefined ? undefined : headers[named];
  return session === undefined
    ? undefined
    : `${session}\n${headers['user-agent'] ?? ''}\n${headers['x-instar-project'] ?? ''}`;
}

const SESSION_HEADERS = [
  'x-instar-session',
  'x-claude-code-session-id',
  'thread-id',
  'x-session-id',
  'session_id',
];

/** Never throws, whatever a stranger sends; looks at headers first and at the body only where those are silent. */
export function identify(arrival: Arrival, known?: Known): Identity {
  const clues = readClues(arrival, known);
  const { headers, client } = clues;
  const session = namedSession(clues);
  const role = turnRole(clues);
  return compact({
    client,
    sessionId: toCallerId(session?.id),
    parentSession: toCallerId(session?.parent),
    agent: agentOf(clues, role),
    role,
    project: known ? known.project : projectOf(clues),
    runKind: headerId(headers, 'x-instar-run-kind') ?? backgroundKind(clues),
    domain: headerId(headers, 'x-instar-domain'),
    record: !isNo(headerText(headers, 'x-instar-record')),
    sessionDone: isYes(headerText(headers, 'x-instar-session-done') ?? headerText(headers, 'x-session-done')),
  });
}

/** A name that sets this agent apart from others of the same client; the main agent of a coding client has none. */
function agentOf({ headers, codex, openclaw }: Clues, role: TurnRole): string | undefined {
  const given = headerId(headers, 'x-instar-agent');
  if (given !== undefined) return given;
  if (openclaw?.agent !== undefined) return toCallerId(openclaw.agent);
  if (role !== 'side') return undefined;
  const ownName = codex?.agentName === '/root' ? undefined : codex?.agentName;
  return headerId(headers, 'x-claude-code-agent-type') ?? toCallerId(ownName ?? codex?.subagent);
}

/** OpenClaw's session key tells a scheduled run or a web hook from a conversation. */
function backgroundKind({ openclaw }: Clues): string | undefined {
  const lane = openclaw?.lane;
  return lane === 'cron' || lane === 'hook' || lane === 'heartbeat' ? lane : undefined;
}

const isNo = (text: string | undefined): boolean => text !== undefined && /^(off|false|no|0)$/i.test(text);
const isYes = (text: string | undefined): boolean => text !== undefined && /^(on|true|yes|1)$/i.test(text);
