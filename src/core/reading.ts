/** What a sentence of a person's message is. One sentence may be several things: "No, we always use tabs here." */
export type SpanKind =
  /** The last answer is wrong, incomplete, unwanted or not what was asked. */
  | 'correction'
  /** How work is done beyond the request at hand. */
  | 'rule'
  /** What the person likes, or how they want to be answered. */
  | 'preference'
  /** Something about the person or their world that stays true. */
  | 'fact'
  /** Takes something back that was said before. */
  | 'revocation'
  | 'thanks'
  /** Asks for the same once more. */
  | 'again'
  /** A service, a network or a tool does not work, which is nobody's mistake in the answer. */
  | 'outage'
  /** A request, a question or an answer to one. */
  | 'task';

/** A passage of a message with what a model says that it is. */
export interface LabelledSpan {
  /** The person's own words, letter by letter. */
  readonly quote: string;
  readonly kind: SpanKind;
}

/** A message that a person sent to an agent, and what it follows. */
export interface ReadContext {
  readonly message: string;
  /** The end of the answer before it; '' where there is none. */
  readonly answer: string;
  /** What the agent was asked to do before. */
  readonly task?: string;
  /** The answer to the message is the one before it with changes. */
  readonly isRevised?: boolean;
  /** What a model read in it, in place of the learned reader; absent: no model has read it. */
  readonly spans?: readonly LabelledSpan[] | undefined;
}

/**
 * A model read what a person typed, also where it found nothing to name. Its quotes leave when the session is erased. Part of the closed
 * list of facts.
 */
export interface MessageReadFact {
  readonly type: 'message-read';
  readonly session: string;
  /** The first turn that answers the message. */
  readonly turn: string;
  readonly model: string;
  /** Each quote stands in one sentence of the message. */
  readonly spans: readonly LabelledSpan[];
}
