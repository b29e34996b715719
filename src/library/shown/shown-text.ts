import { createHash } from 'node:crypto';

/** What a request is shown. The same thread gets the same text in the same places until a cause for another is there. */
export interface ShownText {
  /** What prompts could contain when it was looked at last. */
  readonly generation: number;
  /** The lessons that are in force in it. */
  readonly lessons: readonly string[];
  /** Goes after the client's leading system text. */
  readonly block?: string;
  /** Go to the ends of the messages behind these links. Only a request whose history is kept elsewhere lacks them. */
  readonly additions: readonly Addition[];
  /** Of all the text, in its order; absent when there is none. */
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
