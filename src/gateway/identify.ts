import type { Project, TurnRole } from '../core/fact.ts';
import { compact } from '../core/json.ts';
import { headerId, headerText, toCallerId } from './caller-text.ts';
import { type Arrival, type Clues, readClues } from './clues.ts';
import { projectOf } from './project-of.ts';
import { namedSession } from './session-header.ts';
import { turnRole } from './turn-role.ts';

/** Who is calling, as far as a request alone can tell. Every text is printable and at most 128 characters long. */
export interface Identity {
  /** The client program, when it was recognised. */
  readonly client?: string;
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

/** Never throws, whatever a stranger sends; looks at headers first and at the body only where those are silent. */
export function identify(arrival: Arrival): Identity {
  const clues = readClues(arrival);
  const { headers, client } = clues;
  const session = namedSession(clues);
  const role = turnRole(clues);
  return compact({
    client,
    sessionId: toCallerId(session?.id),
    parentSession: toCallerId(session?.parent),
    agent: agentOf(clues, role),
    role,
    project: projectOf(clues),
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

const isNo = (text: string | undefined): boolean => /^(off|false|no|0)$/i.test(text ?? '');
const isYes = (text: string | undefined): boolean => /^(on|true|yes|1)$/i.test(text ?? '');
