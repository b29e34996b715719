const MARKUP: readonly (readonly [why: string, pattern: RegExp])[] = [
  ['an image', /!\[[^\]\n]{0,200}\]\s?[([]|<img\b|<picture\b|<svg\b/],
  [
    'a comment that readers do not see',
    /<!--|^\s{0,3}\[(?:\/\/|comment|#|_metadata_)\]\s?:|\{\/\*|%%\{|<\?[a-z]/m,
  ],
  [
    'a link that is a program',
    /\]\(\s{0,3}<?\s{0,3}(?:javascript|data|vbscript|file|blob)\s{0,3}:|(?:href|src|action)\s?=\s?["']?\s?(?:javascript|data|vbscript)\s?:/,
  ],
  ['a link', /\[[^\]\n]{1,200}\]\([^)\n]{1,400}\)|^\s{0,3}\[[^\]\n]{1,100}\]:\s?\S/m],
  [
    'HTML that acts',
    // A bare <summary> or <link> is how people write what is to be filled in; it acts with attributes or when it is closed.
    /<\/?(?:script|iframe|embed|noscript|frame|marquee)\b|<(?:object|form|input|meta|base|style|link|details|summary|template|math|video|audio)(?:\s+[a-z-]{1,20}\s?=|\s?\/>)|<\/(?:object|form|style|details|summary|template|math|video|audio)>|\son(?:error|load|click|mouseover|focus)\s?=/,
  ],
  [
    'marks that pass for another speaker',
    /<\|?(?:im_start|im_end|system|endoftext|eot_id|start_header_id|end_header_id)\|?>|\[\/?(?:inst|sys|system)\]|<<\/?sys>>|<\/?(?:system|system-reminder|system_prompt|tool_result|tool_use|function_results?|function_calls?)\b[^<>\n]{0,80}>|<\/(?:instructions?|assistant|user|human|skills?|lessons?|admin|context|memory)>|^\s{0,3}<(?:instructions?|assistant|user|human|skills?|lessons?|admin|context|memory)>\s{0,3}$/m,
  ],
  ['front matter', /^---[a-z]{0,10}\n/],
];

/** What in a folded Markdown text is there to act on a reader or a page instead of being read. */
export const findMarkup = (folded: string): readonly string[] =>
  MARKUP.filter(([, pattern]) => pattern.test(folded)).map(([why]) => why);

const BLOB = /[A-Za-z0-9+/_-]{32,}={0,2}/g;

/** A run of letters and digits that no reader can make sense of: a key, a hash, packed text. */
export function findBlob(text: string): string | undefined {
  for (const [run] of text.matchAll(BLOB))
    if (/\d/.test(run) && /[a-z]/i.test(run) && (run.match(/[-_/]/g)?.length ?? 0) < run.length / 8)
      return run;
  return undefined;
}
