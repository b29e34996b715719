import type { AttemptLessons } from './practice.ts';

/**
 * Who sent a request. `owner`: the person whose home this is. `caller`: a client with a key of its own. `credential`: a
 * client with its own provider credential, which a provider accepted. `anonymous`: nobody that is known; served where that
 * needs no key, never learned from.
 */
export interface Caller {
  readonly kind: 'owner' | 'caller' | 'credential' | 'anonymous';
  /** Identifies the key without revealing it: recorded with every turn, reward and change. */
  readonly id: string;
  /** Its feedback counts as a person's: the owner's, and an application's that passes its users' ratings on. */
  readonly mayRate: boolean;
  /** The attempt at a practice task that its key was made for. */
  readonly attempt?: BoundAttempt;
}

/** What every request with an attempt's key gets. */
export interface BoundAttempt {
  readonly session: string;
  readonly shown: AttemptLessons;
  readonly agent?: string;
  readonly project?: string;
  readonly domain: string;
}

export const ANONYMOUS: Caller = { kind: 'anonymous', id: 'anonymous', mayRate: false };

/** The id of callers with an attempt's key. */
export const PRACTICE = 'practice';

/** A caller with its own provider credential, before the provider has accepted it. */
export const UNVERIFIED = 'unverified';

/** Whether the agent's work under this id may be learned from. Records of earlier versions have no id. */
export const mayTeach = (caller: string | undefined): boolean =>
  caller !== ANONYMOUS.id && caller !== UNVERIFIED && caller !== PRACTICE;
