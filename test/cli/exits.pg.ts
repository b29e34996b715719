import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { startPostgres } from '../../lab/measure/postgres-server.ts';
import { needPostgres } from '../support/need-postgres.ts';
import { configFor, type Exit, faultOf, startBusyProvider, talk, urlOf, withLoad } from './busy-program.ts';
import { createTemporaryFolder, startCli } from './run-cli.ts';

const bin = needPostgres();
/** `EXITS=25 npx vitest run --config vitest.postgres.config.ts test/cli/exits.pg.ts` counts so many. */
const EXITS = Number(process.env.EXITS ?? 2);
withLoad();

it(
  'a worker has its own exit code (not that of an abort) after a signal, while a gateway serves',
  async () => {
    const server = await startPostgres(bin, true);
    const provider = await startBusyProvider();
    const url = server.freshUrl();
    const [gateway, worker] = [createTemporaryFolder(), createTemporaryFolder()];
    for (const { dir } of [gateway, worker])
      writeFileSync(join(dir, 'config.json'), configFor(provider, { store: { url } }), { mode: 0o600 });
    const up = startCli(['up', '--port', '0', '--home', gateway.dir]);
    const at = await urlOf(up);
    const exits: Exit[] = [];
    while (exits.length < EXITS) {
      const one = startCli(['team', 'worker', '--home', worker.dir]);
      await one.firstLine();
      await talk(at, gateway.dir);
      one.child.kill(exits.length % 2 === 0 ? 'SIGINT' : 'SIGTERM');
      exits.push({ ...(await one.ended()), expected: 0 });
    }
    up.child.kill('SIGTERM');
    await up.ended();
    await provider.close();
    await server.stop();
    for (const folder of [gateway, worker]) folder.remove();
    expect({ exits: exits.length, faults: exits.flatMap((exit) => faultOf(exit) ?? []) }).toEqual({
      exits: EXITS,
      faults: [],
    });
  },
  120_000 * (EXITS + 1),
);
