const IN_BRACKETS =
  /\((?:e\.?g\.?|i\.?e\.?|z\.?b\.?|for example|for instance|such as|like|example|ex\.|expected(?: something)?(?: like)?)[:,]?\s+([^()]{1,300})\)/i;
const BEHIND =
  /(?:[,;:–—-]\s*|\s)(?:e\.g\.|eg\.|for example|for instance|such as|like this|like so|example)[:,]?\s+(.{1,300})$/i;
const LIKE_QUOTED =
  /\b(?:like|as in)\s+((?:"[^"]{1,200}"|`[^`]{1,200}`|“[^”]{1,200}”|'[^']{1,200}').{0,40})$/i;
const ALONE =
  /^(?:an? )?(?:examples?|for example|for instance|e\.?g\.?|like(?: this| so)?|such as|correct(?: form)?|right|good|so|it should (?:look|read) (?:like(?: this)?|as follows)|should (?:look|read) like(?: this)?)\s*(?:is|would be)?\s*[:,]\s*(.+)/i;
const ALONE_WRONG =
  /^(?:wrong|incorrect|bad|not|was|yours|got|found|actual|actually got|received|currently|counter-?example)\s*:\s*(.+)/i;
const DID =
  /^(?:you|it|the (?:agent|assistant|model|bot)|instead,? you|your \w+|yours) (?:just |only |still )?((?:wrote|used|put|saved|named|had|gave|sent|left|called|returned|printed|created|made|chose|set|said|has|is|was|ran|added) .+)/i;

/** A quoted example ends with its quotation, also where the sentence goes on. */
const bare = (text: string | undefined): string | undefined =>
  (
    /^("[^"]{1,200}"|`[^`]{1,200}`|“[^”]{1,200}”)(?=,? (?:with|where|and|which|in|on|at|so|but)\b)/.exec(
      text?.trim() ?? '',
    )?.[1] ?? text
  )
    ?.trim()
    .replace(/[.;,]+$/, '');

/** The example in a sentence. */
export const findExample = (said: string): string | undefined =>
  bare((IN_BRACKETS.exec(said) ?? BEHIND.exec(said) ?? LIKE_QUOTED.exec(said))?.[1]);

type Shown = { readonly example: string } | { readonly wrong: string } | undefined;

/** A sentence that is only an example, of the right or of the wrong form. */
export function readExample(said: string): Shown {
  const example = bare(ALONE.exec(said)?.[1]);
  if (example !== undefined) return { example };
  const wrong = /\bexpected\b/i.test(said) ? undefined : bare(ALONE_WRONG.exec(said)?.[1]);
  return wrong === undefined ? undefined : { wrong };
}

/** A sentence that reports what was done and demands nothing itself. */
export function readDeed(said: string): Shown {
  const wrong = bare(DID.exec(said)?.[1]);
  return wrong === undefined ? undefined : { wrong };
}
