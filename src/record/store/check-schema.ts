import { neutraliseLine } from '../../base/printable.ts';
import { StoreError } from '../../core/store.ts';
import { MIGRATIONS } from './schema.ts';
import { openSql, type PeekRows, type Sql } from './sql-connection.ts';

/** What differs from the schema that Instar creates. */
interface SchemaFault {
  /** Follows the name of the file. */
  readonly why: string;
  /** An SQL statement that removes it, for a name without special characters that Instar does not have. */
  readonly removal: string | undefined;
}

interface SchemaRow {
  readonly version: number;
  readonly type: string;
  readonly name: string;
  readonly sql: string | null;
}

/** One statement, so that the version and the schema are of the same moment. */
const SCHEMA = `select (select user_version from pragma_user_version) as version, type, name, sql from sqlite_schema`;
/** What SQLite creates by itself, without a definition or for `analyze`. */
const OWN_INDEX = /^sqlite_autoindex_/;
const STATISTICS = /^sqlite_stat[134]$/;

/**
 * A trigger would run inside our own statements and could delete what they record; a view, a table or an index that we did
 * not create, or one with another definition, could change what they mean. Undefined when every part is one that this
 * version, or the older one that wrote the file, creates.
 */
function findSchemaFault(rows: readonly SchemaRow[]): SchemaFault | undefined {
  const [first] = rows;
  if (first === undefined) return undefined;
  const expected = schemaOf(first.version);
  for (const { type, name, sql } of rows) {
    if (type === 'index' && OWN_INDEX.test(name) && sql === null) continue;
    if (type === 'table' && STATISTICS.test(name)) continue;
    const part = `${type} ${name}`;
    const created = expected.get(part);
    if (created === undefined) return foreignPart(type, name);
    // An index that the upgrade replaces is not compared: early files of a format have it with other conditions.
    const isReplaced = type === 'index' && schemaOf(MIGRATIONS.length).get(part) !== created;
    if (!isReplaced && created !== plainSql(sql)) return changedPart(type, name);
  }
  const found = new Set(rows.map(({ type, name }) => `${type} ${name}`));
  const missing = [...expected.keys()].find((part) => !found.has(part));
  return missing === undefined ? undefined : { why: `lacks the ${missing}`, removal: undefined };
}

const MOST_NAME = 60;
const quote = (name: string): string => `"${neutraliseLine(name.slice(0, MOST_NAME))}"`;

const foreignPart = (type: string, name: string): SchemaFault => ({
  why: `has the ${neutraliseLine(type)} ${quote(name)}, which Instar did not create and which could change the record`,
  removal: /^[a-z_]\w*$/i.test(name) ? `drop ${type} ${name}` : undefined,
});

const changedPart = (type: string, name: string): SchemaFault => ({
  why: `has the ${type} ${quote(name)} with a definition that is not Instar's and could change the record`,
  removal: undefined,
});

const plainSql = (sql: string | null): string => (sql ?? '').replace(/\s+/g, ' ').toLowerCase();

const known = new Map<number, ReadonlyMap<string, string>>();

/** The schema of a version, by making it in memory. */
function schemaOf(version: number): ReadonlyMap<string, string> {
  const before = known.get(version);
  if (before !== undefined) return before;
  const sql = openSql(':memory:', { busyMs: 0 });
  for (const step of MIGRATIONS.slice(0, version)) sql.exec(step);
  const made = new Map(
    sql
      .all<SchemaRow>(SCHEMA)
      .filter((row) => row.sql !== null)
      .map((row) => [`${row.type} ${row.name}`, plainSql(row.sql)]),
  );
  sql.close();
  known.set(version, made);
  return made;
}

/** Throws for a schema that is not Instar's. Reads nothing but the schema. */
export const checkSchema = (sql: Sql): void => refuse(findSchemaFault(sql.all<SchemaRow>(SCHEMA)), sql.file);

export const peekSchemaFault = (rows: PeekRows): SchemaFault | undefined =>
  findSchemaFault(
    rows(['version', 'type', 'name', 'sql'], SCHEMA).map(([version, type, name, sql]) => ({
      version: Number(version),
      type: String(type),
      name: String(name),
      sql: sql === null ? null : String(sql),
    })),
  );

/** The same for rows that were read in another way. */
export const checkPeekedSchema = (rows: PeekRows, file: string): void => refuse(peekSchemaFault(rows), file);

class SchemaError extends StoreError {
  readonly fault: SchemaFault;

  constructor(file: string, fault: SchemaFault) {
    super('corrupt', `${file} ${fault.why}: it is not opened`);
    this.fault = fault;
  }
}

function refuse(fault: SchemaFault | undefined, file: string): void {
  if (fault !== undefined) throw new SchemaError(file, fault);
}

/** Why a store was not opened, if that was because of its schema. */
export const schemaFaultOf = (error: unknown): SchemaFault | undefined =>
  error instanceof SchemaError ? error.fault : undefined;
