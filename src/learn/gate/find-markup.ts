const MARKUP: readonly (readonly [why: string, pattern: RegExp])[] = [
  ['an image', /!\[[^\]\n]{0,200}\]\s?[([]|<img\b|<picture\b|<svg\b/],
  ['a hidden comment', /<!--|^\s{0,3}\[(?:\/\/|comment|#|_metadata_)\]\s?:|\{\/\*|%%\{|<\?[a-z]/m],
  [
    'a link that runs code',
    /\]\(\s{0,3}<?\s{0,3}(?:javascript|data|vbscript|file|blob)\s{0,3}:|(?:href|src|action)\s?=\s?["']?\s?(?:javascript|data|vbscript)\s?:/,
  ],
  ['a link', /\[[^\]\n]{1,200}\]\([^)\n]{1,400}\)|^\s{0,3}\[[^\]\n]{1,100}\]:\s?\S/m],
  [
    'active HTML',
    // A bare <summary> or <link> is a placeholder; with attributes, or closed, it is an element.
    /<\/?(?:script|iframe|embed|noscript|frame|marquee)\b|<(?:object|form|input|meta|base|style|link|details|summary|template|math|video|audio)(?:\s+[a-z-]{1,20}\s?=|\s?\/>)|<\/(?:object|form|style|details|summary|template|math|video|audio)>|\son(?:error|load|click|mouseover|focus)\s?=/,
  ],
  [
    'markup that imitates another speaker',
    /<\|?(?:im_start|im_end|system|endoftext|eot_id|start_header_id|end_header_id)\|?>|\[\/?(?:inst|sys|system)\]|<<\/?sys>>|<\/?(?:system|system-reminder|system_prompt|tool_result|tool_use|function_results?|function_calls?)\b[^<>\n]{0,80}>|<\/(?:instructions?|assistant|user|human|skills?|lessons?|admin|context|memory)>|^\s{0,3}<(?:instructions?|assistant|user|human|skills?|lessons?|admin|context|memory)>\s{0,3}$/m,
  ],
  ['front matter', /^---[a-z]{0,10}\n/],
];

/** Markup in a normalized Markdown text that acts on a page or imitates another speaker. */
export const findMarkup = (folded: string): readonly string[] =>
  MARKUP.filter(([, pattern]) => pattern.test(folded)).map(([why]) => why);

const BLOB = /[A-Za-z0-9+/_-]{32,}={0,2}/g;

/** A long run of letters and digits that is no word or path: a key, a hash, encoded data. */
export function findBlob(text: string): string | undefined {
  for (const [run] of text.matchAll(BLOB))
    if (/\d/.test(run) && /[a-z]/i.test(run) && (run.match(/[-_/]/g)?.length ?? 0) < run.length / 8)
      return run;
  return undefined;
}
