/** A line with named gaps, such as `[DONE] <timestamp> | <task id> | <summary>`. */
export interface LineFormat {
  write(parts: Readonly<Record<string, string>>): string;
  /** What stands in the gaps; undefined when the line does not have this form. */
  read(line: string): Readonly<Record<string, string>> | undefined;
}

export function createLineFormat(pattern: string): LineFormat {
  const pieces = pattern.split(/<([^<>]+)>/);
  const letters = pieces.filter((_, index) => index % 2 === 0);
  const names = pieces.filter((_, index) => index % 2 === 1);
  return {
    write: (parts) => pieces.map((piece, index) => (index % 2 === 0 ? piece : (parts[piece] ?? ''))).join(''),
    read: (line) => {
      if (!line.startsWith(letters[0] ?? '')) return undefined;
      const parts: Record<string, string> = {};
      let at = (letters[0] ?? '').length;
      for (const [index, name] of names.entries()) {
        const next = letters[index + 1] ?? '';
        const isLast = index === names.length - 1;
        const end = isLast ? line.length - next.length : line.indexOf(next, at);
        if (end < at || !line.startsWith(next, end)) return undefined;
        parts[name] = line.slice(at, end);
        at = end + next.length;
      }
      return parts;
    },
  };
}
