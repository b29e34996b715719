import { splitFoldedSentences } from '../../text/sentences.ts';
import { foldText } from './fold-text.ts';
import { isAsking } from './prose.ts';
import { tokensOf } from './tokens.ts';

/** Words written like a name: `AcmePay`, `left-pad-x` in code, `@acme/pay`, a capital inside a sentence. */
const CAMEL = /\b\p{Lu}?\p{Ll}+\p{Lu}[\p{L}\p{N}]*\b/gu;
const INSIDE = /(?<=[\p{Ll}\p{N},;] )\p{Lu}\p{Ll}{2,}\b/gu;
const CODE_NAME = /`(@?[a-z0-9][\w.-]{2,60}(?:\/[\w.-]{1,60})?)`/gi;

/**
 * Finds names of a lesson that occur in untrusted text only: on a page any of them, elsewhere those in a request. Injected
 * advertising and malicious packages work through names.
 */
export function createFindName(
  text: string,
  trusted: readonly string[],
): (folded: string, isPage: boolean) => string | undefined {
  const known = new Set(trusted.flatMap((said) => tokensOf(said)));
  const said = trusted.join('\n');
  const names = new Set(
    [CAMEL, INSIDE, CODE_NAME]
      .flatMap((pattern) => [...text.matchAll(pattern)].map((match) => foldText(match[1] ?? match[0])))
      .filter((name) => !said.includes(name) && !tokensOf(name).every((token) => known.has(token))),
  );
  return (folded, isPage) => {
    if (names.size === 0) return undefined;
    for (const sentence of splitFoldedSentences(folded)) {
      const found = [...names].find((name) => sentence.includes(name));
      if (found !== undefined && (isPage || isAsking(sentence))) return found;
    }
    return undefined;
  };
}
