import { FENCE, findRequest, isTrouble, LEADING_TIME, LOG_START } from './find-request.ts';

/** Characters read from the start and the end. A longer text contains a document; the request stands before or after it. */
const READ_HEAD = 48_000;
const READ_TAIL = 16_000;
const KEPT_HEAD = 1000;
const KEPT_TAIL = 500;

/** `[Telegram Alice id:123 2026-11-15 10:00]`, `[Sun 2026-11-15 03:38 UTC]`, `[Subagent Context]`: written by a channel. */
const BRACKET = /^\s*\[([^[\]\n]{1,160})\]:?[ \t]*/;
const CHANNEL =
  /\d{4}-\d\d-\d\d|\b\d{1,2}:\d\d\b|\bid:|^(?:telegram|discord|slack|signal|whatsapp|imessage|matrix|teams|sms|email|webchat|subagent|cron|heartbeat|system|message|queued|chat messages|current message|from)\b/i;
const SUBAGENT_TASK = '[Subagent Task]';
const UUID = /\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/gi;
const DATA_URL = /data:[\w./+-]{3,60};base64,[\w+/=-]*/g;
/** Longer than anything that a person types without a space: hashes, keys, encoded files. */
const BLOB = /[\w+/=-]{100,}|\b(?=[a-f]*\d)[0-9a-f]{24,}\b/g;

/** A task as recall reads it. */
interface CleanQuery {
  /** For keywords. */
  readonly text: string;
  /** For the sentence model, which is given less: the request, and the line of a log that says what went wrong. */
  readonly meant: string;
}

/** The parts of a long message that are embedded. More costs time and did not improve recall on our tasks. */
const MEANT_HEAD = 240;
const MEANT_TAIL = 80;
const MEANT_TROUBLE = 100;

/** The task in the person's words, without the text that a channel, an editor or a client program added. Linear in the text. */
export const cleanQuery = (text: string): string => readQuery(text).text;

export function readQuery(text: string): CleanQuery {
  const words = withoutAdditions(text);
  const found = findRequest(withoutFirstPrefixes(dropMetadata(words)));
  if (found === undefined) {
    const cleaned = tidy(shortenLines(words));
    return { text: cleaned, meant: joinEnds(cleaned, MEANT_HEAD, MEANT_TAIL) };
  }
  const { request, rest, trouble, opening } = found;
  const asked = tidy(request);
  const [first = ''] = trouble;
  return {
    text: joinEnds([asked, ...trouble, ...opening, ...rest].map(tidy).join('\n'), KEPT_HEAD, KEPT_TAIL),
    meant: `${joinEnds(asked, MEANT_HEAD, MEANT_TAIL)}\n${first.slice(0, MEANT_TROUBLE)}`.trim(),
  };
}

function withoutAdditions(text: string): string {
  let rest = joinEnds(text, READ_HEAD, READ_TAIL);
  rest = dropBetween(rest, '<<<BEGIN_OPENCLAW_INTERNAL_CONTEXT>>>', '<<<END_OPENCLAW_INTERNAL_CONTEXT>>>');
  rest = dropTags(rest);
  const task = rest.lastIndexOf(SUBAGENT_TASK);
  if (task >= 0) rest = rest.slice(task);
  return rest.replace(DATA_URL, ' ').replace(BLOB, ' ').replace(UUID, ' ');
}

function tidy(text: string): string {
  const rest = text
    .split('\n')
    .map(withoutPrefix)
    .filter((line) => line.trim() !== '')
    .join('\n');
  return joinEnds(rest.replace(/[ \t]+/g, ' ').trim(), KEPT_HEAD, KEPT_TAIL);
}

/** A channel stamps the beginning of a message; further stamped lines are those of a log. */
const STAMPED_LINES = 3;

const withoutFirstPrefixes = (text: string): string =>
  text
    .split('\n')
    .map((line, at) => (at < STAMPED_LINES ? withoutPrefix(line) : line))
    .join('\n');

function withoutPrefix(line: string): string {
  let rest = line;
  for (let match = BRACKET.exec(rest); match !== null; match = BRACKET.exec(rest)) {
    if (!CHANNEL.test(match[1] ?? '')) break;
    rest = rest.slice(match[0].length);
  }
  return rest;
}

/** The beginning and the end of a text that is too long. */
const joinEnds = (text: string, head: number, tail: number): string =>
  text.length <= head + tail ? text : `${text.slice(0, head)}\n${text.slice(-tail)}`;

/** Tags that client programs add to a person's message. Their content is not the task. */
const DROPPED: ReadonlySet<string> = new Set([
  'system-reminder',
  'system_reminder',
  'environment_context',
  'environment_details',
  'user_instructions',
  'INSTRUCTIONS',
  'permissions',
  'skills_instructions',
  'apps_instructions',
  'plugins_instructions',
  'available_skills',
  'agent_skills',
  'collaboration_mode',
  'ide_opened_file',
  'ide_selection',
  'ide_diagnostics',
  'open_and_recently_viewed_files',
  'user_info',
  'project_layout',
  'git_status',
  'attached_files',
  'additional_data',
  'local-command-stdout',
  'local-command-stderr',
  'local-command-caveat',
  'command-name',
  'command-message',
  'task-notification',
  'instar-lessons',
  'file_content',
  'folder_content',
  'url_content',
  'terminal_output',
  'workspace_diagnostics',
  'git_working_state',
  'explicit_instructions',
  'uploaded_files',
  'attachments',
  'attachment',
  'editorContext',
  'reminderInstructions',
  'environment_info',
  'workspace_info',
]);
/** Their content is the task; only the tags are removed. */
const UNWRAPPED: ReadonlySet<string> = new Set([
  'user_query',
  'user_message',
  'user-message',
  'user_input',
  'userRequest',
  'issue_description',
  'pr_description',
  'task',
  'feedback',
  'command-args',
  'session',
]);
const TAG = /<(\/?)([a-z][a-z_-]{1,40})(?=[\s>])[^<>]{0,400}>/gi;

/** Removes known tags from a text. One pass: the end of an unclosed tag is searched only once. */
function dropTags(text: string): string {
  const kept: string[] = [];
  const unclosed = new Set<string>();
  let from = 0;
  TAG.lastIndex = 0;
  for (let tag = TAG.exec(text); tag !== null; tag = TAG.exec(text)) {
    const name = tag[2] ?? '';
    const isDropped = DROPPED.has(name);
    if (!isDropped && !UNWRAPPED.has(name)) continue;
    kept.push(text.slice(from, tag.index));
    from = TAG.lastIndex;
    if (!isDropped || tag[1] === '/' || unclosed.has(name)) continue;
    const close = text.indexOf(`</${name}`, from);
    if (close < 0) {
      unclosed.add(name);
      continue;
    }
    const end = text.indexOf('>', close);
    from = end < 0 ? text.length : end + 1;
    TAG.lastIndex = from;
  }
  kept.push(text.slice(from));
  return kept.join(' ');
}

/** Removes the text between two marks and the marks; without the closing mark only the opening one. */
function dropBetween(text: string, open: string, close: string): string {
  const kept: string[] = [];
  let from = 0;
  for (let at = text.indexOf(open); at >= 0; at = text.indexOf(open, from)) {
    kept.push(text.slice(from, at));
    const end = text.indexOf(close, at + open.length);
    from = end < 0 ? at + open.length : end + close.length;
    if (end < 0) break;
  }
  kept.push(text.slice(from));
  return kept.join(' ');
}

/** Announces metadata of the message; the code fence after it contains that metadata. */
const UNTRUSTED = /\(untrusted[^()]{0,60}\)\s*:?\s*$/i;
const METADATA = /^\s*(?:Runtime: agent=|\[message_id:|\[\[reply_to|Current time:|Today's date is )/i;

/** Without the metadata that a channel announces as untrusted, and the fence that holds it. */
function dropMetadata(text: string): string {
  const kept: string[] = [];
  let isAnnounced = false;
  let isInside = false;
  for (const line of text.split('\n')) {
    if (FENCE.test(line) && (isInside || isAnnounced)) {
      isInside = !isInside;
      isAnnounced = false;
    } else if (UNTRUSTED.test(line.slice(-100))) isAnnounced = true;
    else if (!isInside && !METADATA.test(line)) {
      if (line.trim() !== '') isAnnounced = false;
      kept.push(line);
    }
  }
  return kept.join('\n');
}

const FIRST_LINES = 3;
const TROUBLE_LINES = 4;
/** Shorter runs are kept unchanged. */
const SHORT_RUN = 6;
const LONGEST_LINE = 600;

/** Keeps prose; of code and logs it keeps the first lines and those that report errors. */
function shortenLines(text: string): string {
  const kept: string[] = [];
  let run: string[] = [];
  let isFenced = false;
  let isMetadata = false;
  const closeRun = (): void => {
    kept.push(...shortRun(run));
    run = [];
  };
  for (const line of text.split('\n')) {
    if (FENCE.test(line)) {
      if (isFenced && isMetadata) run = [];
      closeRun();
      isFenced = !isFenced;
      if (!isFenced) isMetadata = false;
    } else if (isFenced) run.push(line);
    else if (UNTRUSTED.test(line.slice(-100))) {
      closeRun();
      isMetadata = true;
    } else if (METADATA.test(line)) closeRun();
    else if (LOG_START.test(line)) run.push(line);
    else {
      closeRun();
      if (line.trim() !== '') isMetadata = false;
      kept.push(line.length > LONGEST_LINE ? shortLine(line) : line);
    }
  }
  if (!isMetadata) closeRun();
  return kept.join('\n');
}

function shortRun(run: readonly string[]): readonly string[] {
  const lines = run.map((line) => shortLine(line.replace(LEADING_TIME, '')));
  if (lines.length <= SHORT_RUN) return lines;
  const trouble = lines.slice(FIRST_LINES).filter((line) => isTrouble(line));
  return [...lines.slice(0, FIRST_LINES), ...new Set(trouble.slice(-TROUBLE_LINES))];
}

const shortLine = (line: string): string =>
  line.length <= LONGEST_LINE ? line : `${line.slice(0, LONGEST_LINE / 2)} ${line.slice(-LONGEST_LINE / 2)}`;
