import type { Caller } from './caller.ts';

/** What a person may ask Instar in the chat, besides rating an answer. */
export interface ChatCommand {
  readonly name: 'why' | 'undo' | 'list' | 'forget';
  /** `forget`: the words of what. */
  readonly what?: string;
}

export interface ChatCommandRequest {
  readonly caller: Caller;
  readonly command: ChatCommand;
  /** The newest answer of the session, for `why`. */
  readonly answered: string | undefined;
}

export interface ChatCommandAnswer {
  readonly text: string;
  /** Something was changed. */
  readonly isDone: boolean;
}
