import type { Failure } from './failure.ts';

/** The most that a key may use of something in a minute or in a day. Plain data. */
export type KeyLimit = {
  readonly of: 'requests' | 'tokens' | 'usd';
  readonly most: number;
  readonly per: 'minute' | 'day';
};

/** A key with limits, or a member with all keys. */
export interface LimitedKey {
  readonly id: string;
  readonly name: string;
  /** How the ids of its sessions begin. */
  readonly tag: string;
  readonly limits: readonly KeyLimit[];
  /** The model that answers once the tokens or the money of the day are used up; absent: none does. */
  readonly fallback?: string;
  /** A member of the team: all keys count together. */
  readonly isMember?: true;
}

/** A request that is about to be sent. */
export interface LimitedRequest {
  readonly turn: string;
  /** `provider/model` of the first choice. */
  readonly model: string;
  readonly bytes: number;
  /** It is not recorded: what it used stays unknown. */
  readonly isUnrecorded: boolean;
}

export type LimitAnswer =
  /** `fallback`: the budget of the day is used up, and this model answers. */
  | { readonly ok: true; readonly fallback?: string; readonly ended: (isAnswered: boolean) => void }
  | { readonly ok: false; readonly failure: Failure };
