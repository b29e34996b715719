import { asString, isObject, parseJson } from '../../core/json.ts';
import { readScalar } from '../skill-files/yaml-scalar.ts';
import type { ForeignNote, ForeignNotes, LineRemark, ReadNotes } from './foreign-note.ts';

/** `[G0]. Name: one sentence.` at the start of a line. */
const EXPERIENCE = /^\s*\[(G?\d{1,5})\]\.\s*/;
const NO_NOTES: ForeignNotes = { notes: [], faults: [], leftOut: [] };

/**
 * The agent file that a practice of youtu-agent writes: experiences at the end of `agent.instructions`, numbered `[G0].`; or the
 * experiences of one step as JSON, `{"G0": "…"}`.
 */
export const readYoutu: ReadNotes = (text) =>
  text.trimStart().startsWith('{') ? readSteps(text) : readAgentFile(text);

function readSteps(text: string): ForeignNotes {
  const value = parseJson(text);
  if (!isObject(value)) return { ...NO_NOTES, faults: [{ line: 1, why: 'is not valid JSON' }] };
  const notes: ForeignNote[] = [];
  const faults: LineRemark[] = [];
  for (const [id, words] of Object.entries(value)) {
    const line = text.slice(0, Math.max(0, text.indexOf(JSON.stringify(id)))).split('\n').length;
    const said = asString(words)?.trim() ?? '';
    if (said === '') faults.push({ line, why: `has no text for ${id}` });
    else notes.push({ line, ...wordsOf(said), origin: id });
  }
  return { notes, faults, leftOut: [] };
}

function readAgentFile(text: string): ForeignNotes {
  const lines = text.split('\n');
  const start = lines.findIndex((line) => /^\s*instructions:/.test(line));
  if (start < 0) return { ...NO_NOTES, faults: [{ line: 1, why: 'has no agent.instructions' }] };
  const indent = indentOf(lines[start] ?? '');
  const after = lines.findIndex((line, at) => at > start && line.trim() !== '' && indentOf(line) <= indent);
  const raw = lines.slice(start, after < 0 ? undefined : after);
  const scalar = [(raw[0] ?? '').slice(indent + 'instructions:'.length), ...raw.slice(1)].join('\n');
  const { instructions, isCut } = readInstructions(scalar);
  if (instructions === undefined)
    return { ...NO_NOTES, faults: [{ line: start + 1, why: 'has instructions that are not a YAML text' }] };

  const lineOf = (id: string): number => {
    const at = raw.findIndex((line) => line.includes(`[${id}].`));
    return start + 1 + Math.max(0, at);
  };
  const found: { readonly id: string; readonly lines: string[] }[] = [];
  for (const line of instructions.split('\n')) {
    const id = EXPERIENCE.exec(line)?.[1];
    if (id !== undefined) found.push({ id, lines: [line.replace(EXPERIENCE, '')] });
    else found.at(-1)?.lines.push(line);
  }
  const last = isCut ? found.pop() : undefined;
  const notes: ForeignNote[] = [];
  const faults: LineRemark[] = [];
  for (const { id, lines: words } of found) {
    const said = words.join('\n').trim();
    if (said === '') faults.push({ line: lineOf(id), why: `has no text for ${id}` });
    else notes.push({ line: lineOf(id), ...wordsOf(said), origin: id });
  }
  if (isCut)
    faults.push({
      line: last === undefined ? start + 1 : lineOf(last.id),
      why: `is where the file was cut${last === undefined ? '' : `: ${last.id} is not whole`}`,
    });
  else if (found.length === 0)
    faults.push({ line: start + 1, why: 'has instructions without experiences ([G0]. …)' });
  return { notes, faults, leftOut: [] };
}

/** The file may end inside its quotes. */
function readInstructions(scalar: string): { readonly instructions?: string; readonly isCut: boolean } {
  const whole = readScalar(scalar);
  if (whole.ok) return { instructions: whole.text, isCut: false };
  const quote = scalar.trimStart().charAt(0);
  const closed = readScalar(`${scalar.replace(/\\$/, '')}${quote}`);
  return closed.ok ? { instructions: closed.text, isCut: true } : { isCut: true };
}

/** `Name: sentence` is how practice writes an experience; the whole of it stays its content. */
function wordsOf(said: string): Pick<ForeignNote, 'content' | 'title'> {
  const [, title] = /^([^:\n]{3,60}):\s/.exec(said) ?? [];
  return { content: said, ...(title === undefined ? {} : { title }) };
}

const indentOf = (line: string): number => line.length - line.trimStart().length;
