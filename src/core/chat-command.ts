import type { Caller } from './caller.ts';
import type { RecollectQuery } from './recollection.ts';

/** What a person may ask Instar in the chat, besides rating an answer. */
export interface ChatCommand {
  /** `recall`: a question about what was said in earlier sessions. */
  readonly name: 'why' | 'undo' | 'list' | 'forget' | 'recall';
  /** `forget`: the words of what. `recall`: the question. */
  readonly what?: string;
}

export interface ChatCommandRequest {
  readonly caller: Caller;
  readonly command: ChatCommand;
  /** The newest answer of the session, for `why`. */
  readonly answered: string | undefined;
  /** Whose words are searched, and the session that asks. */
  readonly asker: Omit<RecollectQuery, 'text'>;
}

export interface ChatCommandAnswer {
  readonly text: string;
  /** Something was changed. */
  readonly isDone: boolean;
}
