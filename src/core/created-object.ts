/** A caller created a response or a batch at a provider with the owner's key: it may use it again, other callers may not. */
export type CreatedObjectFact = {
  readonly type: 'object-created';
  /** The hash of the id that the provider gave it. */
  readonly object: string;
  readonly provider: string;
  /** The id of the caller's key. */
  readonly caller: string;
};

/** The subject of the fact about one object. */
export const createdObjectSubject = (hash: string): string => `created/${hash}`;
