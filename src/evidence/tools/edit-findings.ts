import { asString, isObject, parseJson } from '../../core/json.ts';

/** Sections with the file itself, whose lines are nobody's findings. */
const FILE_END = '</final_file_content>';
/** What clients write behind an edit that was made, with the client. */
const FINDINGS: readonly (readonly [mark: string, also: string, client: string])[] = [
  ['LSP errors detected in ', ', please fix:', 'OpenCode'],
  ['New problems detected after saving the file:', '', 'Cline, Roo Code'],
  ['Lint errors found after change:', '', 'Void'],
  // Errors have this sign; warnings and hints have others.
  ['<new-diagnostics>', '✘ [Line ', 'Claude Code'],
  ['PostToolUse:', ' hook blocking error from command: ', 'Claude Code'],
];
const CAP = 400_000;

/** Whether an edit was made and left errors behind, as the client's language server, linter or hook says. */
export function hasFindings(text: string): boolean {
  if (text.length > CAP) return false;
  const problems = text.startsWith('{') ? problemsIn(text) : undefined;
  const end = text.lastIndexOf(FILE_END);
  const said = problems ?? (end < 0 ? text : text.slice(end));
  return FINDINGS.some(([mark, also]) => said.includes(mark) && said.includes(also));
}

/** Roo Code: `{"path":…,"operation":"modified","notice":…,"problems":"…"}`. */
function problemsIn(text: string): string | undefined {
  const value = parseJson(text);
  return isObject(value) ? asString(value.problems) : undefined;
}
