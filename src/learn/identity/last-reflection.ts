/** The last reflection over sessions and notes, in words. Plain data. */
export type LastReflection = {
  readonly at: number;
  readonly said: string;
};
