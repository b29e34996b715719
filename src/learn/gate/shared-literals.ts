import { foldText } from './fold-text.ts';
import { tokensOf } from './tokens.ts';

const SHORTEST = 12;
const FEWEST_QUOTED = 5;
const CODE = /`([^`\n]{3,400})`/g;
const QUOTED = /"([^"\n]{8,400})"/g;
const FENCE = /^\s{0,3}(?:```|~~~)/;
/** Words with punctuation inside, as no sentence has. */
const SIGNED = /^[\w@~$%\\/.:=+#*-]{12,300}$/;
const PATH = /^(?:[\w@.~$-]{1,80})?(?:[\\/][\w@.~$-]{1,80}){1,20}$/;
/** Files of most projects: their names do not show where a sentence comes from. */
const COMMON =
  /^(?:package(?:-lock)?\.json|requirements\.txt|tsconfig\.json|pyproject\.toml|docker-compose\.ya?ml|cargo\.(?:toml|lock)|node_modules|changelog\.md|contributing\.md|readme\.md|\.gitignore|gradle\.properties|build\.gradle|pnpm-lock\.yaml|__init__\.py|conftest\.py|index\.(?:html|[jt]sx?)|main\.(?:py|go|rs|[jt]s)|settings\.py|setup\.(?:py|cfg)|vite\.config\.[jt]s|go\.(?:mod|sum))$/;

/** The literals of a normalized lesson: paths, commands, code, quotations. */
function literalsOf(words: string): readonly string[] {
  const found = new Set<string>();
  let isFenced = false;
  for (const line of words.split('\n')) {
    if (FENCE.test(line)) isFenced = !isFenced;
    else if (isFenced && line.trim().length >= SHORTEST) found.add(line.trim());
  }
  for (const [, code = ''] of words.matchAll(CODE))
    if (code.trim().length >= SHORTEST) found.add(code.trim());
  for (const [, quoted = ''] of words.matchAll(QUOTED))
    if (tokensOf(quoted).length >= FEWEST_QUOTED) found.add(quoted.trim());
  for (const word of words.split(/[\s`"'()[\]{}<>,;!?]+/)) {
    const bare = word.replace(/^[.:*]+|[.:*]+$/g, '');
    if (SIGNED.test(bare) && isSigned(bare)) found.add(bare);
  }
  return [...found].filter((literal) => !COMMON.test(literal));
}

/** A path, or a name with punctuation or digits between its letters; two words joined by a hyphen or a slash are English. */
const isSigned = (word: string): boolean =>
  /\w[\\/]\w[\w.~$-]*[\\/.]|^[~/\\]|\w[_=@$%#+]\w|\w\.\w|\w::?\w|[a-z]\d[a-z]|-{2}\w/.test(word);

/**
 * Finds literals of a lesson that occur in untrusted text only. A relative path counts as trusted when its last segment
 * is: error digests keep no more of it.
 */
export function createFindLiteral(
  words: string,
  trusted: readonly string[],
): (folded: string) => string | undefined {
  const said = flat(trusted.join('\n'));
  const open = literalsOf(words).filter((literal) => {
    const base = PATH.test(literal) && !/^[/~\\]/.test(literal) ? literal.split(/[\\/]/).at(-1) : undefined;
    return !said.includes(flat(literal)) && !(base && base.length > 3 && said.includes(base));
  });
  return (folded) => {
    if (open.length === 0) return undefined;
    const text = flat(folded);
    return open.find((literal) => text.includes(flat(literal)));
  };
}

const flat = (text: string): string => foldText(text).split(/\s+/).join(' ');
