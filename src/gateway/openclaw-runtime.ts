import { type BodyPlaces, findIn, toNeedle } from './body-places.ts';

/** The facts about a run that OpenClaw writes into a line of the first message. */
export interface OpenclawRuntime {
  readonly agent?: string;
  readonly sessionId?: string;
  /** The kind of run in the session key: `subagent`, `cron`, `hook` …; undefined for a plain conversation. */
  readonly lane?: string;
}

const LINE = toNeedle('Runtime: agent=');
const LINE_BYTES = 1024;
/** Session keys are `agent:NAME:REST`; the rest of a background run starts with one of these words. */
const LANES = new Set(['subagent', 'acp', 'cron', 'hook', 'heartbeat']);

export function readOpenclawRuntime(places: BodyPlaces): OpenclawRuntime | undefined {
  const at = findIn(places.bytes, places.opening(), LINE);
  if (at < 0) return undefined;
  const line = places.bytes.toString('latin1', at, at + LINE_BYTES);
  const agent = /agent=([\w.-]+)/.exec(line)?.[1];
  const sessionId = /\| sessionId=([\w.:-]+)/.exec(line)?.[1];
  const key = /\| session=([\w.:-]+)/.exec(line)?.[1] ?? '';
  const lane = key
    .split(':')
    .slice(2)
    .find((word) => LANES.has(word));
  return {
    ...(agent !== undefined && { agent }),
    ...(sessionId !== undefined && { sessionId }),
    ...(lane !== undefined && { lane }),
  };
}
