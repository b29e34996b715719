import { createHmac } from 'node:crypto';
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { createLruMap } from '../base/lru-map.ts';
import type { Repository } from '../base/repository.ts';
import type { Caller } from '../core/caller.ts';
import { type BoundAttempt, PRACTICE } from '../core/caller.ts';
import type { ClientName } from '../core/client-name.ts';
import type { TurnRole } from '../core/evidence.ts';
import type { Project } from '../core/fact.ts';
import { compact } from '../core/json.ts';
import { isMemberId } from '../core/member.ts';
import { sessionPrefix, standsForItself } from '../core/principal.ts';
import {
  type ClientClues,
  headerId,
  headerText,
  type KnownClient,
  type ReceivedRequest,
  readClientClues,
  toCallerId,
} from './client-clues.ts';
import { detectProject, detectTurnRole, readClientSession, readEndUser } from './session-clues.ts';

/** Who is calling, as far as the request shows it. Every text is printable and at most 128 characters long. */
export interface Identity {
  /** The client program, when it was recognised. */
  readonly client?: ClientName;
  /** The client's own id of the conversation. */
  readonly sessionId?: string;
  /** The conversation that started this one, if this is a sub-agent's. */
  readonly parentSession?: string;
  readonly agent?: string;
  /** Another agent that the request named, for which its key does not speak. */
  readonly claimed?: string;
  /** The end user whom the request is about, as a keyed hash. */
  readonly person?: string;
  readonly role: TurnRole;
  readonly project?: Project;
  /** Where the client says that it works. Never recorded, logged or shown. */
  readonly folder?: string;
  /** What the client says of the repository of the folder. Never recorded. */
  readonly remote?: Repository;
  readonly runKind?: string;
  readonly domain?: string;
  /** False: the turn is served, but neither recorded nor learned from. */
  readonly record: boolean;
  /** The caller marks this turn as the session's last. */
  readonly sessionDone: boolean;
}

const MOST_KNOWN = 4000;
/** A client that has not revealed itself after this many turns of a conversation will not do so later. */
const MOST_SEARCHES = 3;

interface IdentifyOptions {
  /** Callers' names and ids are redacted here, once, so that memory, record, log and API all use the same text. */
  readonly redact: (name: string) => string;
  /** A name for an end user that does not reveal who it is. */
  readonly hashPerson: (user: string) => string;
}

/** The same person has the same name in all records of one home, and nobody can compute it elsewhere. */
export const createPersonHash =
  (salt: string): IdentifyOptions['hashPerson'] =>
  (user) =>
    `u_${createHmac('sha256', salt).update(`person\n${user}`).digest('hex').slice(0, 16)}`;

/** The number of end users since the start, up to a bound. */
export function countPersons(hash: IdentifyOptions['hashPerson']): {
  readonly hash: IdentifyOptions['hashPerson'];
  readonly count: () => number;
} {
  const persons = new Set<string>();
  return {
    hash: (user) => {
      const person = hash(user);
      if (persons.size < MOST_PERSONS) persons.add(person);
      return person;
    },
    count: () => persons.size,
  };
}

const MOST_PERSONS = 100_000;

/** By its header alone: requests to Instar's own routes have no field for it. */
export const createPersonOf =
  (hashPerson: IdentifyOptions['hashPerson']) =>
  ({ headers }: IncomingMessage): string | undefined => {
    const user = headerText(headers, 'x-instar-user');
    return user === undefined ? undefined : hashPerson(user);
  };

const AS_SENT: IdentifyOptions = { redact: (name) => name, hashPerson: createPersonHash('') };

/**
 * `identify` with a memory: a conversation's texts are searched for client and project only until both are found, and in
 * at most MOST_SEARCHES turns. Conversations without an id in a header are searched every time.
 */
export function createIdentify(
  options = AS_SENT,
): (arrival: ReceivedRequest, caller?: Pick<Caller, 'tag'>) => Identity {
  const found = createLruMap<string, KnownClient>(MOST_KNOWN);
  const searches = createLruMap<string, number>(MOST_KNOWN);
  return (arrival, caller) => {
    const name = conversationOf(arrival.headers, caller?.tag);
    const known = name === undefined ? undefined : found.get(name);
    const identity = identify(arrival, known, options, caller);
    if (name === undefined || known !== undefined) return identity;
    const { client, project, folder, remote, role } = identity;
    const isAllFound = client !== undefined && project !== undefined;
    // The title request that comes first does not name the project, so only main turns count.
    const count = role === 'main' ? (searches.get(name) ?? 0) + 1 : 0;
    if (isAllFound || count >= MOST_SEARCHES) found.set(name, { client, project, folder, remote });
    else if (count > 0) searches.set(name, count);
    return identity;
  };
}

/** A key for the conversation, from headers only. The same id from another program or caller is another conversation. */
function conversationOf(headers: IncomingHttpHeaders, caller = ''): string | undefined {
  const named = SESSION_HEADERS.find((name) => headers[name] !== undefined);
  const session = named === undefined ? undefined : headers[named];
  return session === undefined
    ? undefined
    : `${session}\n${headers['user-agent'] ?? ''}\n${headers['x-instar-project'] ?? ''}\n${caller}`;
}

const SESSION_HEADERS = [
  'x-instar-session',
  'x-claude-code-session-id',
  'thread-id',
  'x-session-id',
  'session_id',
  'agent-session-id',
];

/** Never throws. Reads headers first, and the body only for what no header states. */
export function identify(
  arrival: ReceivedRequest,
  known?: KnownClient,
  { redact, hashPerson } = AS_SENT,
  caller?: Pick<Caller, 'tag'>,
): Identity {
  const clean = (name: string | undefined): string | undefined =>
    name === undefined ? undefined : redact(name);
  const clues = readClientClues(arrival, known);
  const { headers, client } = clues;
  const session = readClientSession(clues);
  const role = detectTurnRole(clues);
  const user = readEndUser(clues);
  const person = user === undefined ? undefined : hashPerson(user);
  /** A client may name its session by the whole id that a reply has told it. */
  const nameOf = (id: string | undefined): string | undefined => {
    const own = sessionPrefix(caller?.tag, person);
    return clean(toCallerId(own !== '' && id?.startsWith(own) ? id.slice(own.length) : id));
  };
  return compact({
    client,
    person,
    sessionId: nameOf(session?.id),
    parentSession: nameOf(session?.parent),
    agent: clean(agentOf(clues, role)),
    role,
    ...(known === undefined
      ? detectProject(clues, { redact, isApplication: standsForItself(caller?.tag ?? '') })
      : { project: known.project, folder: known.folder, remote: known.remote }),
    runKind: clean(headerId(headers, 'x-instar-run-kind')) ?? backgroundKind(clues),
    domain: clean(headerId(headers, 'x-instar-domain')),
    record: !isNo(headerText(headers, 'x-instar-record')),
    sessionDone: isYes(headerText(headers, 'x-instar-session-done') ?? headerText(headers, 'x-session-done')),
  });
}

/**
 * The caller with the agent for which its key speaks: a request that names another one is served and recorded under the key's own.
 * Members and clients without a key have no agents of others in reach.
 */
export function bindAgent(identity: Identity, caller: Caller | undefined, agents: AgentsOfKeys): Identity {
  if (
    caller?.kind !== 'caller' ||
    caller.attempt !== undefined ||
    (caller.member !== undefined && isMemberId(caller.member))
  )
    return identity;
  const { agent, client, role } = identity;
  const named = agent ?? client;
  if (named === undefined) return compact({ ...identity, agent: agents.ownAgent(caller.id) });
  const bound = agents.agentOf(caller.id, named, role === 'side');
  return bound === named ? identity : { ...identity, agent: bound, claimed: named };
}

/** See `config/key-agents`. */
export interface AgentsOfKeys {
  agentOf(key: string, named: string, isSub: boolean): string;
  ownAgent(key: string): string | undefined;
  /** Whether lessons of this agent are the key's own. Binds nothing. */
  speaksFor(key: string, agent: string): boolean;
}

/** The agent's name among others of the same client; undefined for the main agent of a coding client. */
function agentOf({ headers, codex, openclaw }: ClientClues, role: TurnRole): string | undefined {
  const given = headerId(headers, 'x-instar-agent');
  if (given !== undefined) return given;
  if (openclaw?.agent !== undefined) return toCallerId(openclaw.agent);
  if (role !== 'side') return undefined;
  const ownName = codex?.agentName === '/root' ? undefined : codex?.agentName;
  return headerId(headers, 'x-claude-code-agent-type') ?? toCallerId(ownName ?? codex?.subagent);
}

/** OpenClaw's session key distinguishes scheduled runs and web hooks from conversations. */
function backgroundKind({ openclaw }: ClientClues): string | undefined {
  const lane = openclaw?.lane;
  return lane === 'cron' || lane === 'hook' || lane === 'heartbeat' ? lane : undefined;
}

const isNo = (text: string | undefined): boolean => text !== undefined && /^(off|false|no|0)$/i.test(text);
const isYes = (text: string | undefined): boolean => text !== undefined && /^(on|true|yes|1)$/i.test(text);

/** Who calls: the attempt, whatever the request says. Which of the client's requests it is, the request tells. */
export const identityInAttempt = (
  { client, role }: Identity,
  { session, agent, project, domain }: BoundAttempt,
): Identity =>
  compact({
    client,
    role,
    sessionId: session,
    agent,
    project: project === undefined ? undefined : { id: project, label: project },
    domain,
    runKind: PRACTICE,
    record: true,
    sessionDone: false,
  });
