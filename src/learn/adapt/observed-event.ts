import { hash } from 'node:crypto';
import type { EventKind } from '../../core/adapt.ts';
import { compact, type Json } from '../../core/json.ts';
import type { NewFact } from '../../core/store.ts';
import { errorKeyOf } from '../../text/error-key.ts';

/** Who an event is about. */
export interface EventScope {
  readonly agent?: string | undefined;
  readonly runKind?: string | undefined;
  readonly session?: string | undefined;
  /** The id of the key that the session was made with. */
  readonly caller?: string | undefined;
}

/** The field of an observed event that names the key of its session. */
export const SEEN_WITH = 'caller';

interface ObservedEvent {
  /** Makes the event's idempotency key, with its kind: what is seen twice is reported once. */
  readonly mark: string;
  /** Events with the same label and scope support each other. */
  readonly label?: string | undefined;
  /** Where the evidence says more than the kind. */
  readonly score?: number;
  /** Digests, ids and names: no output of a tool, no words of a person. */
  readonly data: { readonly [name: string]: Json | undefined };
}

/** An event that Instar saw itself. */
export function observedEvent(
  kind: EventKind,
  { agent, runKind, session, caller }: EventScope,
  { mark, label, score, data }: ObservedEvent,
  at: number,
): NewFact {
  const leader = leaderOf(agent);
  return {
    at,
    fact: {
      type: 'event-reported',
      kind,
      by: 'instar',
      ...compact({ agent, runKind, session, score }),
      data: compact({ label, leader, [SEEN_WITH]: caller, ...data }),
    },
    key: `observed:${kind}:${shortHash([session ?? '', mark])}`,
  };
}

/** `leader/worker` is led by `leader`. */
export const leaderOf = (agent: string | undefined): string | undefined => {
  const at = agent?.lastIndexOf('/') ?? -1;
  return at > 0 ? agent?.slice(0, at) : undefined;
};

export const shortHash = (parts: readonly string[]): string =>
  hash('sha256', JSON.stringify(parts), 'hex').slice(0, 16);

/** The label of everything about an error, wherever in its file it is; undefined for a digest that names no error. */
export function errorLabel(of: 'error' | 'retry', digest: string): string | undefined {
  const key = errorKeyOf(digest);
  return key === undefined ? undefined : `${of}.${shortHash([key])}`;
}
