/** Sections that clients insert into a user's message, as opening and closing marks. */
const WRAPPED: readonly (readonly [string, string])[] = [
  ['<system-reminder>', '</system-reminder>'],
  ['<environment_context>', '</environment_context>'],
  ['<user_instructions>', '</user_instructions>'],
  ['<task-notification>', '</task-notification>'],
  ['<local-command-stdout>', '</local-command-stdout>'],
  ['<ide_selection>', '</ide_selection>'],
  ['<<<BEGIN_OPENCLAW_INTERNAL_CONTEXT>>>', '<<<END_OPENCLAW_INTERNAL_CONTEXT>>>'],
  ['```', '```'],
];
/** Lines pasted from a terminal, a log or a file. */
const PASTED =
  /^(?:➜ |[$%#] \S|\S{0,40}\s?[\w.-]{1,40}@[\w.-]{1,60}[: ]\S{0,200}[$#%] |\{"|\[\{|\s{2,}at |\s{2,}File "|Traceback \(|node:|npm (?:error|ERR!)|\s{0,4}\w{0,40}(?:Error|Exception): |\d{4}-\d\d-\d\d[T ]|'?\/[\w./ -]{1,300}'?$|[-+] ?\d{1,5} )/;
/** Negations without their apostrophe. */
const BARE_NOT = /\b(does|did|is|was|are|were|have|has|had|do|would|could|should|ca|wo)nt\b/g;
const STAMP = /^\s*\[[A-Z][a-z]{2} \d{4}-\d{2}-\d{2}[^\]\n]{0,30}\]\s*/;
const CAP = 20_000;

/**
 * What the user typed: without sections inserted by the client, quotes and pasted output. In lower case, with straight
 * apostrophes and single spaces.
 */
export function plainWords(text: string): string {
  let rest = text.slice(0, CAP);
  for (const [open, close] of WRAPPED) rest = without(rest, open, close);
  const lines = rest.replace(STAMP, '').split('\n');
  const own = lines.filter((line) => !/^\s{0,3}>|^Runtime: agent=/.test(line) && !PASTED.test(line));
  return own
    .join(' \n')
    .replace(/`[^`\n]{0,400}`|"[^"\n]{8,400}"|“[^”\n]{8,400}”/g, ' ')
    .replaceAll('’', "'")
    .toLowerCase()
    .replace(BARE_NOT, "$1n't")
    .replace(/\b(that|you|it)(s|re) (?=(?:not|still|wrong|broken)\b)/g, "$1'$2 ")
    .replace(/[^\S\n]+/g, ' ')
    .trim();
}

/** A section without its closing mark extends to the end of the text. */
function without(text: string, open: string, close: string): string {
  let kept = '';
  let at = 0;
  for (;;) {
    const from = text.indexOf(open, at);
    if (from < 0) return kept + text.slice(at);
    kept += text.slice(at, from);
    const to = text.indexOf(close, from + open.length);
    if (to < 0) return kept;
    at = to + close.length;
  }
}
