/**
 * The words of a message that a person typed, for the index of what people said. The words are hashed: the text itself stays where it was
 * recorded. Part of the closed list of facts.
 */
export interface MessageIndexedFact {
  readonly type: 'message-indexed';
  readonly session: string;
  /** The first turn that answers the message. */
  readonly turn: string;
  /** When it was said; absent in entries of earlier versions, which are about as old as their session's end. */
  readonly said?: number;
  /** A hash of the person, the agent and the project: only the same asker finds the message. */
  readonly owner: string;
  /** It asks to forget something: each search of its owner heeds it. */
  readonly isForget?: true;
  /** A code for each search term, in base64; empty when the session was erased. */
  readonly words: string;
  /** The same of what it answers: it is found by these words too, and they are never quoted. Absent in a project, and for a first message. */
  readonly around?: string;
  /** Vectors of its passages, a signed byte for each number, in base64; absent where no sentence model was loaded. */
  readonly vectors?: string;
  /** The sentence model that made them. */
  readonly engine?: string;
}

/**
 * A prompt got a text with words of an earlier session: when that session is erased, the text is erased from the prompt's record, too. Part
 * of the closed list of facts.
 */
export interface MessageQuotedFact {
  readonly type: 'message-quoted';
  /** The session that is quoted. */
  readonly session: string;
  /** The session whose prompt quotes it, and the hash of the text. */
  readonly by: string;
  readonly block: string;
}

/** A message that may look back at what was said before. */
export interface RecollectQuery {
  readonly text: string;
  /** What was said in this session is in its history. */
  readonly session: string;
  readonly agent: string;
  readonly project?: string;
  /** Who asks, as `core/principal` names them; absent: the home's own person. */
  readonly member?: string;
}

/** Words of the asker from an earlier session. */
export interface Recollection {
  readonly session: string;
  readonly turn: string;
  /** When they were said. */
  readonly at: number;
  /** Letter by letter; what stands between two passages of a message is left out with "…". */
  readonly text: string;
  /** The times that it names by their distance from then, as "yesterday". */
  readonly times: readonly NamedTime[];
  /** 0 to 1: how well it fits the message; half is enough, as of a lesson. */
  readonly relevance: number;
}

/** A time that words name by its distance from the day on which they were said. */
export interface NamedTime {
  readonly words: string;
  /** As people write it: "7 May 2023", "the week of 1 May 2023", "April 2023", "2022". */
  readonly means: string;
}

/** What the asker said in earlier sessions and what fits the message, the best first. Empty where nothing fits well. */
export type Recollect = (query: RecollectQuery) => Promise<readonly Recollection[]>;
