import { splitFrontMatter } from './front-matter.ts';
import { readList } from './list.ts';
import { takeOwnFields } from './own-fields.ts';
import { readScalar } from './scalar.ts';
import { type Fault, type Field, isFault, LARGEST_FILE_BYTES, type SkillFile } from './skill-file.ts';
import { toSkillName } from './skill-name.ts';

/** The library's limit for a lesson. */
const LARGEST_CONTENT_BYTES = 8 * 1024;

/**
 * Reads a SKILL.md, in time that grows with its length only; nothing in it is evaluated. `folder` is the name of the folder
 * it lies in: the skill's name when the file gives none that can be one. Never throws.
 */
export function readSkillFile(text: string, folder = ''): SkillFile | Fault {
  // A character has at most three bytes here, and at least one.
  if (text.length > LARGEST_FILE_BYTES || Buffer.byteLength(text) > LARGEST_FILE_BYTES) {
    return { fault: `is larger than ${LARGEST_FILE_BYTES} bytes, the most that a skill file may have` };
  }
  const cut = splitFrontMatter(text);
  if (isFault(cut)) return cut;
  const { own, rest } = takeOwnFields(cut.fields);
  const name = readName(rest, folder);
  if (typeof name !== 'string') return name;
  const description = readText(rest, 'description');
  if (isUnreadable(description)) return description;
  if (description === undefined || description.trim() === '') return { fault: 'has no description' };
  const category = readText(rest, 'category');
  if (isUnreadable(category)) return category;
  const content = readContent(cut.body);
  if (typeof content !== 'string') return content;
  const keywords = own.keywords ?? readKeywords(rest);
  return {
    name,
    description,
    content,
    ...(category !== undefined && category !== '' && { category }),
    ...(keywords !== undefined && { keywords }),
    ...(own.origin !== undefined && { origin: own.origin }),
    extra: rest.filter(({ key }) => !READ.has(key)),
  };
}

const READ = new Set(['name', 'description', 'category', 'keywords', 'tags']);

const rawOf = (fields: readonly Field[], key: string): string | undefined =>
  fields.find((field) => field.key === key)?.raw;

function readText(fields: readonly Field[], key: string): string | undefined | Fault {
  const raw = rawOf(fields, key);
  if (raw === undefined) return undefined;
  const text = readScalar(raw);
  return typeof text === 'string' ? text : { fault: `${key} ${text.fault}` };
}

const isUnreadable = (value: string | undefined | Fault): value is Fault => typeof value === 'object';

function readName(fields: readonly Field[], folder: string): string | Fault {
  const said = readText(fields, 'name');
  if (isUnreadable(said)) return said;
  const name = toSkillName(said ?? '') ?? toSkillName(folder);
  if (name !== undefined) return name;
  if (said === undefined || said === '') return { fault: 'has no name' };
  const shown = said.length > 64 ? `${said.slice(0, 64)}…` : said;
  return {
    fault: `has the name ${JSON.stringify(shown)}, which cannot be made one of 2 to 63 small letters, digits and hyphens`,
  };
}

/** The writer puts one empty line before the text and one line end behind it: they are taken off again. */
function readContent(body: string): string | Fault {
  const start = body.startsWith('\n') ? 1 : 0;
  const content = body.slice(start, body.length > start && body.endsWith('\n') ? -1 : undefined);
  if (content.trim() === '') return { fault: 'has no text below its front matter' };
  const bytes = Buffer.byteLength(content);
  if (bytes > LARGEST_CONTENT_BYTES) {
    return { fault: `has a text of ${bytes} bytes; a lesson may have at most ${LARGEST_CONTENT_BYTES}` };
  }
  return content;
}

function readKeywords(fields: readonly Field[]): readonly string[] | undefined {
  const raw = rawOf(fields, 'keywords') ?? rawOf(fields, 'tags');
  return raw === undefined ? undefined : readList(raw);
}
