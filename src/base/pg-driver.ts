import { createRequire } from 'node:module';

const DRIVERS = ['pg', 'pg-boss'];

/** A PostgreSQL needs packages that an ordinary home does not: the sentence that says so. Undefined when they are installed. */
export function whyNoPgDriver(): string | undefined {
  const { resolve } = createRequire(import.meta.url);
  try {
    for (const name of DRIVERS) resolve(name);
    return undefined;
  } catch {
    return `store.url names a PostgreSQL, and the packages it needs are not installed: npm install -g ${DRIVERS.join(' ')}`;
  }
}
