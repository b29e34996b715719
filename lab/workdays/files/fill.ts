const GAP = /\{(\w+)\}/g;

/** A phrasing with its gaps `{name}` filled. Throws for a gap that nothing was given for. */
export const fill = (phrasing: string, words: Readonly<Record<string, string>>): string =>
  phrasing.replaceAll(GAP, (_, name: string) => {
    const word = words[name];
    if (word === undefined) throw new Error(`{${name}} stands for nothing in: ${phrasing}`);
    return word;
  });

export const gapsIn = (phrasing: string): readonly string[] =>
  [...phrasing.matchAll(GAP)].map((match) => match[1] ?? '');
