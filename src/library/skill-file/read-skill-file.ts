import { clip } from '../../text/truncate.ts';
import { splitFrontMatter } from './front-matter.ts';
import { readList } from './list.ts';
import { takeOwnFields } from './own-fields.ts';
import { readScalar } from './scalar.ts';
import { type Fault, type Field, isFault, LARGEST_FILE_BYTES, type SkillFile } from './skill-file.ts';
import { toSkillName } from './skill-name.ts';

/** The library's limit for a lesson. */
const LARGEST_CONTENT_BYTES = 8 * 1024;

/**
 * Reads a SKILL.md in linear time; nothing in it is evaluated. `folder` is the name of its folder: the skill's name when the
 * file has no valid one. Never throws.
 */
export function readSkillFile(text: string, folder = ''): SkillFile | Fault {
  // The first check saves counting the bytes of a huge text.
  if (text.length > LARGEST_FILE_BYTES || Buffer.byteLength(text) > LARGEST_FILE_BYTES) {
    return { ok: false, why: `is larger than ${LARGEST_FILE_BYTES} bytes, the limit for a skill file` };
  }
  const cut = splitFrontMatter(text);
  if (isFault(cut)) return cut;
  const { own, rest } = takeOwnFields(cut.fields);
  const name = readName(rest, folder);
  if (typeof name !== 'string') return name;
  const description = readText(rest, 'description');
  if (isUnreadable(description)) return description;
  if (description === undefined || description.trim() === '') return { ok: false, why: 'has no description' };
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
  return typeof text === 'string' ? text : { ok: false, why: `${key} ${text.why}` };
}

const isUnreadable = (value: string | undefined | Fault): value is Fault => typeof value === 'object';

function readName(fields: readonly Field[], folder: string): string | Fault {
  const said = readText(fields, 'name');
  if (isUnreadable(said)) return said;
  const name = toSkillName(said ?? '') ?? toSkillName(folder);
  if (name !== undefined) return name;
  if (said === undefined || said === '') return { ok: false, why: 'has no name' };
  return {
    ok: false,
    why: `has the name ${JSON.stringify(clip(said, 65))}, which cannot be converted to 2 to 63 lower-case letters, digits and hyphens`,
  };
}

/** Without the empty line before the text and the line end after it, which the writer adds. */
function readContent(body: string): string | Fault {
  const start = body.startsWith('\n') ? 1 : 0;
  const content = body.slice(start, body.length > start && body.endsWith('\n') ? -1 : undefined);
  if (content.trim() === '') return { ok: false, why: 'has no text below its front matter' };
  const bytes = Buffer.byteLength(content);
  if (bytes > LARGEST_CONTENT_BYTES) {
    return {
      ok: false,
      why: `has a text of ${bytes} bytes; a lesson may have at most ${LARGEST_CONTENT_BYTES}`,
    };
  }
  return content;
}

function readKeywords(fields: readonly Field[]): readonly string[] | undefined {
  const raw = rawOf(fields, 'keywords') ?? rawOf(fields, 'tags');
  return raw === undefined ? undefined : readList(raw);
}
