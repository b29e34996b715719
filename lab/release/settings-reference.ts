import { effectTimeOf } from '../../src/config/reload-rules.ts';
import { configJsonSchema } from '../../src/config/schema.ts';
import { asArray, asObject, asString, type Json, type JsonObject, toJson } from '../../src/core/json.ts';
import { markdownTable } from '../measure/markdown.ts';
import { cell, code } from './markdown.ts';

/** One line of the page. */
interface SettingRow {
  readonly path: readonly string[];
  readonly schema: JsonObject;
}

/** Every setting as a page: its type, default, range, meaning and when a change takes effect, from the schema itself. */
export function writeSettingsReference(): string {
  const root = asObject(toJson(configJsonSchema()));
  const sections = Object.entries(asObject(root.properties)).map(
    ([name, schema]) => [name, asObject(schema)] as const,
  );
  const single = sections.filter(([, schema]) => !isGroup(schema));
  const groups = sections.filter(([, schema]) => isGroup(schema));
  return `${[
    '# Every setting',
    'Written from the config’s own schema by `npm run docs:reference`. The file is `~/.instar/config.json`; `instar config set PATH VALUE` changes one setting, `instar config check` names each problem with its fix, and editors that read JSON Schema can use [config.schema.json](../../config.schema.json). No setting is required. Each line ends with the type, the default, and when a change takes effect in a running Instar; `NAME` is a name of your choice.',
    ...(single.length === 0 ? [] : [rowsTable(single.map(([name, schema]) => ({ path: [name], schema })))]),
    ...groups.flatMap(([name, schema]) => [
      `## ${name}`,
      cell(asString(schema.description) ?? ''),
      rowsTable(rowsOf([name], schema)),
    ]),
  ].join('\n\n')}\n`;
}

const isGroup = (schema: JsonObject): boolean =>
  schema.properties !== undefined ||
  (schema.additionalProperties !== undefined && schema.additionalProperties !== false);

/** The settings below a group, in the order of the schema; a group with named entries has the name `NAME`. */
function rowsOf(path: readonly string[], schema: JsonObject): readonly SettingRow[] {
  const members = Object.entries(asObject(schema.properties)).flatMap(([name, member]) =>
    rowsAt([...path, name], asObject(member)),
  );
  const named = schema.additionalProperties;
  const entries =
    named === undefined || typeof named === 'boolean' ? [] : rowsAt([...path, 'NAME'], asObject(named));
  return [...members, ...entries];
}

/** A group with defaults is opened; one that is given as a whole or not at all, such as a calendar, is one setting. */
const rowsAt = (path: readonly string[], schema: JsonObject): readonly SettingRow[] =>
  schema.properties === undefined || (schema.default === undefined && path.at(-1) !== 'NAME')
    ? [{ path, schema }]
    : rowsOf(path, schema);

const rowsTable = (rows: readonly SettingRow[]): string =>
  markdownTable(
    ['setting', 'meaning'],
    rows.map(({ path, schema }) => {
      const effect = effectTimeOf(path);
      const hasDefault = schema.default !== undefined && schema.properties === undefined;
      const facts = [
        cell(typeOf(schema)),
        ...(hasDefault ? [`default ${code(JSON.stringify(schema.default))}`] : []),
        ...(effect === undefined ? [] : [`takes effect ${effect}`]),
      ];
      const words = cell(asString(schema.description) ?? '');
      return [code(path.join('.')), `${words}${words === '' ? '' : '<br>'}*${facts.join('; ')}*`];
    }),
  );

/** The type in words: `integer, 1 to 1024`, `"native" or "text"`, `list of texts`. */
function typeOf(schema: JsonObject): string {
  const either = [...asArray(schema.anyOf), ...asArray(schema.oneOf)].map(asObject);
  if (either.length > 0) return [...new Set(either.map(typeOf))].join(', or ');
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.enum !== undefined)
    return asArray(schema.enum)
      .map((value) => JSON.stringify(value))
      .join(', ');
  if (schema.type === 'array') return `list of ${plural(typeOf(asObject(schema.items)))}`;
  if (schema.type === 'object')
    return schema.properties === undefined
      ? 'object'
      : `object: ${Object.keys(asObject(schema.properties)).join(', ')}`;
  const name = schema.type === 'string' ? 'text' : (asString(schema.type) ?? 'any');
  return `${name}${rangeOf(schema)}`;
}

const plural = (type: string): string => (type === 'text' ? 'texts' : type === 'object' ? 'objects' : type);

function rangeOf(schema: JsonObject): string {
  const [least, most] = [
    bound(schema.minimum, schema.exclusiveMinimum),
    bound(schema.maximum, schema.exclusiveMaximum),
  ];
  if (least === undefined && most === undefined) return '';
  if (most === undefined) return `, at least ${least}`;
  return least === undefined ? `, at most ${most}` : `, ${least} to ${most}`;
}

/** Bounds that only say "a safe integer" say nothing. */
const bound = (inclusive: Json | undefined, exclusive: Json | undefined): string | undefined => {
  const value = inclusive ?? exclusive;
  if (typeof value !== 'number' || Math.abs(value) >= Number.MAX_SAFE_INTEGER) return undefined;
  return `${inclusive === undefined ? 'over ' : ''}${value}`;
};
