import { createHash } from 'node:crypto';

/** The text that is added to a request. A thread gets the same text in the same positions until there is a reason to change it. */
export interface ShownText {
  /** The generation of the last recall. */
  readonly generation: number;
  /** The ids of the lessons in force. */
  readonly lessons: readonly string[];
  /** Inserted after the client's system text. */
  readonly block?: string;
  /** Appended to the messages of these links. Requests without their history get none. */
  readonly additions: readonly Addition[];
  /** The hash of all texts in order; absent without text. */
  readonly hash?: string;
}

export interface Addition {
  readonly link: string;
  readonly text: string;
}

export const hashTexts = (texts: readonly string[]): string => {
  const hash = createHash('sha256');
  for (const text of texts) hash.update(text);
  return hash.digest('hex').slice(0, 32);
};
