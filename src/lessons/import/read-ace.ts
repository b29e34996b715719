import { type ForeignNote, isNegating, type LineRemark, type ReadNotes } from './foreign-note.ts';

/** `[str-00001] helpful=5 harmful=0 :: text`; some versions write a dash before it. */
export const ACE_BULLET =
  /^\s*(?:[-*]\s+)?\[([^\]\s]{1,60})\]\s*helpful=(\d{1,9})\s+harmful=(\d{1,9})\s*::\s?(.*)$/;
const NEARLY = /^\s*(?:[-*]\s+)?\[[^\]]{1,60}\]\s*(?:helpful|harmful)\b/;

/**
 * A playbook of ACE: bullets with counters under sections. A bullet goes on until the next bullet, section or empty line. Its
 * counters are its confidence.
 */
export const readAce: ReadNotes = (text) => {
  const notes: ForeignNote[] = [];
  const faults: LineRemark[] = [];
  const leftOut: LineRemark[] = [];
  let section: { readonly name: string; readonly raw: string } | undefined;
  let open: { line: number; title: string; helpful: number; harmful: number; lines: string[] } | undefined;
  const close = (): void => {
    if (open === undefined) return;
    const { line, title, helpful, harmful, lines } = open;
    open = undefined;
    const words = lines.join('\n').trimEnd();
    if (words.trim() === '') {
      faults.push({ line, why: `is the bullet ${title} without a text` });
      return;
    }
    notes.push({
      line,
      content: words,
      isVerbatim: true,
      ...(section === undefined ? {} : { heading: section.name }),
      ...(section !== undefined && isNegating(section.name) ? { lead: section.raw } : {}),
      origin: `bullet ${title}, helpful ${helpful}, harmful ${harmful}`,
      // The mean of a Beta(1, 1) that has seen both counts.
      confidence: (helpful + 1) / (helpful + harmful + 2),
      ...(harmful > helpful
        ? { doubts: [`its counters say that it harmed more often than it helped (${harmful} to ${helpful})`] }
        : {}),
    });
  };
  for (const [index, raw] of text.split('\n').entries()) {
    const line = index + 1;
    const bullet = ACE_BULLET.exec(raw);
    const heading = /^\s*#{1,6}\s+(.*\S)\s*$/.exec(raw);
    if (bullet !== null) {
      close();
      const [, title = '', helpful = '0', harmful = '0', words = ''] = bullet;
      open = { line, title, helpful: Number(helpful), harmful: Number(harmful), lines: [words] };
    } else if (heading !== null) {
      close();
      section = { name: heading[1] ?? '', raw: raw.trim() };
    } else if (raw.trim() === '') close();
    else if (NEARLY.test(raw)) {
      close();
      faults.push({ line, why: 'is not a bullet: expected [id] helpful=N harmful=N :: text' });
    } else if (open !== undefined) open.lines.push(raw);
    else leftOut.push({ line, why: 'is text outside of the bullets' });
  }
  close();
  return { notes, faults, leftOut };
};
