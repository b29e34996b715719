import type { IncomingHttpHeaders } from 'node:http';
import { asObject, asString, parseJson } from '../core/json.ts';
import { headerText } from './caller-text.ts';

/** What Codex says of a request in a header of its own. */
export interface CodexTurn {
  /** `turn`, or what else it calls a model for: `compaction` and others. */
  readonly requestKind?: string;
  readonly thread?: string;
  readonly parentThread?: string;
  /** Why a sub-agent runs, such as `review` or `thread_spawn`; only sub-agents have it. */
  readonly subagent?: string;
  /** Its name when it was given one; the main agent is `/root`. */
  readonly agentName?: string;
  /** The repository it works in. */
  readonly workspace?: string;
}

/** Undefined when the header is missing; fields are missing when they, or the header, cannot be read. */
export function readCodexTurn(headers: IncomingHttpHeaders): CodexTurn | undefined {
  const text = headerText(headers, 'x-codex-turn-metadata');
  if (text === undefined) return undefined;
  const told = asObject(parseJson(text));
  const isSubagent = told.thread_source === 'subagent';
  const subagent = asString(told.subagent_kind) ?? (isSubagent ? 'subagent' : undefined);
  const fields = {
    requestKind: asString(told.request_kind),
    thread: asString(told.thread_id),
    parentThread: asString(told.parent_thread_id),
    subagent,
    agentName: asString(told.agent_name),
    workspace: Object.keys(asObject(told.workspaces))[0],
  };
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}
