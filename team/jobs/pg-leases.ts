import type { NamedLeases } from '../../src/core/jobs.ts';
import type { JobTables } from './job-tables.ts';

/** Rights in a table, by the clock of the database alone. `holder`: a name for this process that people can read. */
export function createPgLeases({ pool, schema }: JobTables, holder: string): NamedLeases {
  return {
    take: async (names, leaseMs) => {
      const [row] = await pool.all<{ name: string; fence: number }>(
        `insert into ${schema}.leases as l (name, holder, fence, until)
         select n.name, $2, 1, now() + $3::double precision * interval '1 millisecond'
         from unnest($1::text[]) with ordinality as n(name, place)
         where not exists (select 1 from ${schema}.leases o where o.name = n.name and o.until > now())
         order by n.place limit 1
         on conflict (name) do update set holder = excluded.holder, fence = l.fence + 1, until = excluded.until
         where l.until <= now()
         returning name, fence`,
        [names, holder, leaseMs],
      );
      if (row === undefined) return undefined;
      const { name, fence } = row;
      const change = async (until: string): Promise<boolean> =>
        (await pool.run(
          `update ${schema}.leases set until = ${until} where name = $1 and holder = $2 and fence = $3 and $4::double precision >= 0`,
          [name, holder, fence, leaseMs],
        )) === 1;
      return {
        name,
        fence,
        renew: () => change(`now() + $4::double precision * interval '1 millisecond'`),
        release: async () => void (await change('now()')),
      };
    },
    holder: async (name) => {
      const [row] = await pool.all<{ holder: string }>(
        `select holder from ${schema}.leases where name = $1 and until > now()`,
        [name],
      );
      return row?.holder;
    },
  };
}
