import { splitFrontMatter } from './front-matter.ts';
import { takeOwnFields, writeOwnFields } from './own-fields.ts';
import { writeQuoted } from './quoted-scalar.ts';
import { type Field, isFault, type SkillFile } from './skill-file.ts';
import { isSkillName } from './skill-name.ts';

/** Words that YAML parsers read as something other than text. */
const YAML_WORDS = new Set(['null', 'true', 'false', 'yes', 'no', 'on', 'off']);

/** A SKILL.md that reads back as the same skill. No text in it can end the front matter or add a field. */
export function writeSkillFile(skill: SkillFile): string {
  const { name, description, category, content } = skill;
  const extra = [...new Map(skill.extra.filter(isWhole).map((field) => [field.key, field])).values()];
  const isHeld = extra.some(({ key }) => key === 'metadata');
  return [
    '---',
    `name: ${isSkillName(name) && !YAML_WORDS.has(name) ? name : writeQuoted(name)}`,
    `description: ${writeQuoted(description)}`,
    ...(category === undefined ? [] : [`category: ${writeQuoted(category)}`]),
    ...extra.flatMap((field) =>
      field.key === 'metadata' ? writeOwnFields(skill, field) : `${field.key}:${field.raw}`,
    ),
    ...(isHeld ? [] : writeOwnFields(skill, undefined)),
    '---',
    '',
    `${content}\n`,
  ].join('\n');
}

const TAKEN = new Set(['name', 'description', 'category', 'keywords', 'tags']);

/** Whether a field on its own reads back as the same field; other fields are left out. */
function isWhole(field: Field): boolean {
  const cut = splitFrontMatter(`---\n${field.key}:${field.raw}\n---\n`);
  if (isFault(cut) || cut.body !== '' || cut.fields.length !== 1 || TAKEN.has(field.key)) return false;
  const left = takeOwnFields(cut.fields).rest[0];
  return left?.key === field.key && left.raw === field.raw;
}
