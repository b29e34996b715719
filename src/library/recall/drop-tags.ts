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
]);
/** Their content is the task; only the tags are removed. */
const UNWRAPPED: ReadonlySet<string> = new Set([
  'user_query',
  'user_message',
  'user-message',
  'task',
  'feedback',
  'command-args',
  'session',
]);
const TAG = /<(\/?)([a-z][a-z_-]{1,40})(?=[\s>])[^<>]{0,400}>/gi;

/** Removes known tags from a text. One pass: the end of an unclosed tag is searched only once. */
export function dropTags(text: string): string {
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
export function dropBetween(text: string, open: string, close: string): string {
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
