import type { IncomingHttpHeaders } from 'node:http';
import { asObject, asString, parseJson } from '../core/json.ts';
import { headerText } from './caller-text.ts';

/** What Codex states about a request in its header `x-codex-turn-metadata`. */
export interface CodexTurn {
  /** `turn`, `compaction` or another purpose of the model call. */
  readonly requestKind?: string;
  readonly thread?: string;
  readonly parentThread?: string;
  /** Why a sub-agent runs, such as `review` or `thread_spawn`; undefined for the main agent. */
  readonly subagent?: string;
  /** The agent's name, if it has one; the main agent is `/root`. */
  readonly agentName?: string;
  /** The repository it works in. */
  readonly workspace?: string;
}

/** Undefined when the header is missing; a field that cannot be read is left out. */
export function readCodexTurn(headers: IncomingHttpHeaders): CodexTurn | undefined {
  const text = headerText(headers, 'x-codex-turn-metadata');
  if (text === undefined) return undefined;
  const metadata = asObject(parseJson(text));
  const isSubagent = metadata.thread_source === 'subagent';
  const subagent = asString(metadata.subagent_kind) ?? (isSubagent ? 'subagent' : undefined);
  const fields = {
    requestKind: asString(metadata.request_kind),
    thread: asString(metadata.thread_id),
    parentThread: asString(metadata.parent_thread_id),
    subagent,
    agentName: asString(metadata.agent_name),
    workspace: Object.keys(asObject(metadata.workspaces))[0],
  };
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}
