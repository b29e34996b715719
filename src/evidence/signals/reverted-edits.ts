import type { Signal } from '../../core/evidence.ts';
import { asArray, asObject, asString, parseJson } from '../../core/json.ts';
import { type Program, readCommand } from '../../text/shell-programs.ts';
import { separateTypedText } from '../../text/typed-text.ts';
import { isChange } from '../tools/shell-command.ts';
import { readCall } from '../tools/tool-call.ts';
import type { TurnReading } from '../turn-reading.ts';

const CAP = 4000;
const HEAD = 400;

/** "Undo that", as people say it. Not "add an undo button", not "revert to the 2019 layout in the mock-up". */
const UNDO: readonly RegExp[] = [
  /^(?:undo|revert|rollback|roll back|back out|unde|rever)(?: (?:that|this|it|them|those|these|everything|all|both|your?|the (?:last|latest|previous|change|changes|edit|edits|commit|whole|file|files)|last|what|my|to (?:the )?(?:previous|original|old|how|what|before)|src|[\w./-]{1,80}\.\w{1,5})\b|[.!,]|$)/,
  /^(?:please |just |can you |could you |you should )?(?:put|change|set|switch|turn|bring|get|take) (?:it|that|this|them|everything|the \w{1,30})(?: all)? back\b/,
  /^(?:take|back) (?:that|it|this|those changes|your changes) (?:back|out)\b/,
  /^(?:restore|bring back|give me back|get back) (?:the )?(?:old|original|previous|prior|earlier|last|my|file|it|that|how)\b/,
  /^(?:discard|drop|throw away|scrap|get rid of|remove) (?:all )?(?:your|those|these|the(?:se)?|that|this) (?:last )?(?:changes?|edits?|commit)\b/,
  /^i (?:(?:have |'ve )?(?:reverted|undid|undone|rolled back|restored|discarded|reset|put back)|had to (?:revert|undo|roll back|restore))\b/,
  /^(?:bitte )?(?:mach|mache|nimm|setz|setze|stell|stelle) (?:das|es|die änderung(?:en)?|alles|den commit)(?: alles)?(?: bitte)?(?: wieder)? (?:rückgängig|zurück|wieder her)/,
  /^(?:rückgängig|zurücksetzen|änderung(?:en)? (?:rückgängig|verwerfen|zurück))/,
  /^(?:deshaz|deshacer|revierte|vuelve atrás|restaura)(?:lo|la|los|las)?\b/,
  /^(?:annule|annulez|reviens en arrière|remets|défais|restaure)(?:[- ](?:ça|cela|tout|le|la|les|tes)|$|[.!,])/,
  /^(?:请|把)?.{0,8}(?:撤销|撤回|回滚|还原|恢复(?:原|到|成|之前)|改回)/,
  /^.{0,12}(?:元に戻して|戻して|取り消して)/,
];
const OPENER =
  /^(?:no+|nope|hm+|ok|okay|sorry|wait|stop|please|pls|oh|ah|ugh|hey|actually|nein|non|now|so|and|well|yeah|then|argh|damn)\b[,.! ]{0,4}/;
/** What aider says in the user's name when they undo its commit. */
const AIDER_UNDO = 'I did `git reset --hard HEAD~1` to discard the last edits.';
/** What the user ran in their own shell, in a client that tells the agent. */
const OWN_SHELL = /<(?:bash-input|command)>([^<]{1,400})<\/(?:bash-input|command)>/g;

/** What the agent had edited was undone afterwards, by the user or because the user wanted it. */
export function findRevertedEdits(turn: TurnReading): Signal | undefined {
  const { next } = turn.evidence;
  if (next === undefined || turn.evidence.isReported) return undefined;
  const user = next.user ?? '';
  if (user.startsWith(AIDER_UNDO)) return reverted('the user undid the change', 2.5, 0);
  const edits = editsOf(turn);
  if (edits.length === 0) return undefined;
  if (user !== '' && wantsUndo(user)) return reverted('the user wanted the change undone', 2.5, 0);
  if (user !== '' && (undoesInShell(user, edits) || showsOldText(user, edits)))
    return reverted('the user undid the change', 2.5, 0);
  const undone = next.calls?.some((call) => undoes(call, user === '' ? ownEdits(turn) : edits)) ?? false;
  if (!undone) return undefined;
  // Without a word of the user in between, the agent gave up what it had tried.
  return user === ''
    ? reverted('the agent undid its own change', 0.8, 0.2)
    : reverted('the change was undone', 2, 0.1);
}

const reverted = (reason: string, weight: number, score: number): Signal => ({
  name: 'reverted',
  source: 'signal',
  score,
  weight,
  reason,
});

/** One change to a file. */
interface Edit {
  readonly path: string;
  readonly before: string;
  readonly after: string;
}

const MOST_EDITS = 200;

/** The edits of the session up to this turn, the newest last. A change by a shell command has no path. */
function editsOf(turn: TurnReading): readonly Edit[] {
  const earlier = turn.evidence.earlier.filter(({ failed }) => !failed).slice(-MOST_EDITS);
  return [...earlier.flatMap(readEdits), ...ownEdits(turn)];
}

const ownEdits = ({ calls }: TurnReading): readonly Edit[] =>
  calls.flatMap(({ part, outcome }) => (outcome?.kind === 'fault' ? [] : readEdits(part)));

/** The edits of one call. A change by a shell command has no path. */
export function readEdits(call: { readonly name: string; readonly arguments: string }): readonly Edit[] {
  const { kind, paths, programs } = readCall(call);
  if (kind !== 'edit')
    return programs.some(isChange) && !programs.some(isGitUndo) ? [{ path: '', before: '', after: '' }] : [];
  const given = asObject(parseJson(call.arguments));
  const path = paths[0] ?? '';
  const list = asArray(given.edits).map(asObject);
  return (list.length > 0 ? list : [given]).map((one) => ({ path, ...textsOf(one) }));
}

const BEFORE = ['old_string', 'oldString', 'old_str', 'oldText', 'old_text', 'search'];
const AFTER = ['new_string', 'newString', 'new_str', 'newText', 'new_text', 'replace'];

function textsOf(given: { readonly [name: string]: unknown }): Pick<Edit, 'before' | 'after'> {
  const read = (names: readonly string[]) => names.flatMap((name) => asString(given[name]) ?? [])[0] ?? '';
  return { before: read(BEFORE), after: read(AFTER) };
}

function wantsUndo(message: string): boolean {
  const { typed } = separateTypedText(message.slice(0, CAP));
  // "git checkout . — did that myself": the command comes first.
  const [ran = ''] = typed.split(/\n| [—–-] |, /, 1);
  if (ran.startsWith('git ') && readCommand(ran).some(isGitUndo)) return true;
  const head = typed.slice(0, HEAD).replaceAll('’', "'").toLowerCase();
  return head.split(/[.!?;\n，。！、]+|, | (?:and|but|so|then) | - /).some((clause) => {
    const rest = withoutOpeners(clause.trim());
    return (
      rest !== '' &&
      UNDO.some((pattern) => pattern.test(rest)) &&
      !/\b(?:button|feature|stack|shortcut|history|command|endpoint|migration)\b/.test(rest)
    );
  });
}

function withoutOpeners(clause: string): string {
  let rest = clause;
  for (let turn = 0; turn < 4; turn++) {
    const next = rest
      .replace(OPENER, '')
      .replace(
        /^(?:can|could|would|will) you (?:please )?|^(?:i want you to|you (?:should|need to|must)|let's|lets) /,
        '',
      );
    if (next === rest || next === '') break;
    rest = next;
  }
  return rest;
}

function undoesInShell(message: string, edits: readonly Edit[]): boolean {
  return [...message.slice(0, CAP).matchAll(OWN_SHELL)].some(([, command]) =>
    readCommand(command ?? '').some((program) => isGitUndo(program) && concerns(program, edits)),
  );
}

/** Text that the client inserted, a file among it, has what the edit replaced and not what it wrote. */
function showsOldText(message: string, edits: readonly Edit[]): boolean {
  const inserted = separateTypedText(message.slice(0, 20 * CAP)).inserted.join('\n');
  if (inserted === '') return false;
  return edits.slice(-10).some(({ path, before, after }) => {
    const isTelling = before.trim().length >= 12 && after.trim() !== '' && !before.includes(after);
    const name = path.slice(Math.max(path.lastIndexOf('/'), path.lastIndexOf('\\')) + 1);
    return (
      isTelling &&
      name !== '' &&
      inserted.includes(name) &&
      inserted.includes(before) &&
      !inserted.includes(after)
    );
  });
}

const UNDOING: ReadonlySet<string> = new Set(['checkout', 'restore', 'revert', 'reset']);

function isGitUndo({ name, args }: Program): boolean {
  const [verb = ''] = args;
  if (name !== 'git' || !UNDOING.has(verb)) return false;
  if (verb === 'reset') return args.includes('--hard');
  if (verb === 'restore') return !args.includes('--staged') || args.includes('--worktree');
  return (
    verb === 'revert' ||
    args.includes('--') ||
    args.slice(1).some((arg) => arg === '.' || /\.\w{1,5}$/.test(arg))
  );
}

/** Whether it undoes the agent's files: it names one of them, or everything. */
function concerns({ args }: Program, edits: readonly Edit[]): boolean {
  const named = args.slice(1).filter((arg) => !arg.startsWith('-') && /[./]/.test(arg) && arg !== '.');
  if (named.length === 0) return true;
  return named.some((arg) =>
    edits.some(({ path }) => path !== '' && (path.endsWith(arg.replace(/^\.\//, '')) || arg.endsWith(path))),
  );
}

/** A call that restores a file with git, or an edit that puts the replaced text back. */
function undoes(
  call: { readonly name: string; readonly arguments: string },
  edits: readonly Edit[],
): boolean {
  const { programs } = readCall(call);
  if (programs.some((program) => isGitUndo(program) && edits.length > 0 && concerns(program, edits)))
    return true;
  return readEdits(call).some(
    ({ path, before, after }) =>
      before !== '' &&
      after !== '' &&
      edits.slice(-10).some((one) => one.path === path && one.before === after && one.after === before),
  );
}
