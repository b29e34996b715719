/** A message as far as it is read here. Other messages, such as images, have no text. */
interface FramedMessage {
  readonly role: string;
  readonly text: string | undefined;
}

/** A message that belongs to the conversation. */
interface OwnMessage {
  readonly index: number;
  /** Its text without the client's rules; undefined when it has none. */
  readonly text: string | undefined;
}

/** Ends the example that aider shows the model before the conversation. */
const SWITCHED = /^\s*I switched to a new code base\. Please don't consider the above files/;
/** Rebuilt for every request: the instructions of models without a system prompt, the map of the repository, the files in the chat. */
const REBUILT =
  /^\s*(?:Act as an expert (?:software developer|code analyst|architect engineer)\b|Here are summaries of some files present in my git repository\.|Here are some READ ONLY files, provided for your reference\.|I am working with you on code in a git repository|I have \*added these files to the chat\*|I am not sharing (?:any|the) files|Don't try and edit any existing code without asking me to add|These are some files we have been discussing|Here is the current content of the files?:)/;
const FILES =
  /^\s*(?:I have \*added these files to the chat\*|I am not sharing any files that you can edit yet\.|Don't try and edit any existing code without asking me to add)/;
/** What it reports in the user's name: an edit, a command. */
const REPORTED =
  /^\s*(?:I committed the changes with git hash |I updated the files\.|I didn't see any properly formatted edits in your reply|I edited the files myself\.|I ran this command:\s*\n|I did `git reset --hard|I added these files to the chat:)/;
/** The answer that it writes for the model. */
const OK = /^\s*Ok\.\s*$/;
/** Its rules for edits, behind the user's words in the newest message. */
const RULES =
  /\n[ \t]*(?:# \*SEARCH\/REPLACE block\* Rules:|# File editing rules:|# V4A Diff Format Rules:|To suggest changes to a file you MUST return the entire content of the updated file\.|ONLY return code using the `\w+` function\.|NEVER RETURN CODE!)/;

/** Whether a message in the user's name is one of aider's frame: it names the files of the chat in every request. */
export const namesAiderFiles = (text: string): boolean => FILES.test(text);

/** What the user said, without the rules that aider writes behind it. */
export function withoutAiderRules(text: string): string {
  const found = RULES.exec(text);
  return (found === null ? text : text.slice(0, found.index)).trimEnd();
}

/**
 * The conversation itself in what aider sends: without its example, the repository's map and the files, which it rebuilds for every
 * request and puts between the messages, and without the answers that it writes for the model. Then a history extends the one before.
 */
export function readAiderConversation(messages: readonly FramedMessage[]): readonly OwnMessage[] {
  const isUser = (at: number, what: RegExp): boolean =>
    messages[at]?.role === 'user' && what.test(messages[at].text ?? '');
  const switched = messages.findIndex((_, at) => isUser(at, SWITCHED));
  const own: OwnMessage[] = [];
  for (let index = switched + 1; index < messages.length; index++) {
    const { role, text } = messages[index] ?? { role: '', text: undefined };
    if (role === 'system') continue;
    if (role === 'assistant' && isAnswerOfClient(index)) continue;
    if (isUser(index, REBUILT)) continue;
    const said = text === undefined || role !== 'user' ? text : withoutAiderRules(text);
    // A failed command stands there twice: as a report, and as the next request.
    if (isUser(index, REPORTED) && own.at(-1)?.text === said) continue;
    own.push({ index, text: said });
  }
  return own;

  function isAnswerOfClient(at: number): boolean {
    if (isUser(at - 1, REBUILT)) return true;
    return OK.test(messages[at]?.text ?? '') && (isUser(at - 1, REPORTED) || isUser(at - 1, SWITCHED));
  }
}
