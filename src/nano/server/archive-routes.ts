import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { createTar, type TarFile } from '../../base/tar.ts';
import type { Checkpoint } from './checkpoints.ts';
import { createPeftFiles } from './peft-files.ts';
import { Refusal } from './refusal.ts';
import { type Call, ok, type Reply, type Route } from './route.ts';
import { checkpointAt } from './run-routes.ts';
import type { ServerParts } from './server-parts.ts';

const LIFETIME_MS = 15 * 60_000;
const CHECKPOINT = '/api/v1/training_runs/:run/checkpoints/:kind/:name';

/** Downloads of a checkpoint as a PEFT adapter, through signed links that need no key and expire. */
export function createArchiveRoutes(parts: ServerParts): readonly Route[] {
  const { checkpoints, clock, engine } = parts;
  const secret = randomBytes(32);
  const sign = (what: string, expires: number): Buffer =>
    createHmac('sha256', secret).update(`${expires}/${what}`).digest();
  const pathOf = ({ params: [run = '', kind = '', name = ''] }: Call, file: string): string =>
    `${run}/${kind}/${name}/${file}`;
  const link = (call: Call, file: string, expires: number): string => {
    const what = pathOf(call, file);
    const signature = sign(what, expires).toString('base64url');
    return `${call.origin}/api/v1/downloads/${what}?expires=${expires}&signature=${signature}`;
  };
  const filesOf = async (checkpoint: Checkpoint): Promise<readonly TarFile[]> =>
    createPeftFiles(await checkpoints.read(checkpoint), checkpoint.lora, engine.model.name);

  return [
    {
      method: 'GET',
      path: `${CHECKPOINT}/archive`,
      answer: (call): Reply => {
        checkpointAt(call, parts);
        const expires = clock.now() + LIFETIME_MS;
        const location = link(call, 'adapter.tar.gz', expires);
        return { status: 302, headers: { location, expires: new Date(expires).toUTCString() } };
      },
    },
    {
      method: 'GET',
      path: `${CHECKPOINT}/external_weights_urls`,
      answer: async (call) => {
        const files = await filesOf(checkpointAt(call, parts));
        const expires = clock.now() + LIFETIME_MS;
        const urls = Object.fromEntries(files.map(({ name }) => [name, link(call, name, expires)]));
        return ok({ urls, expires: new Date(expires).toISOString() });
      },
    },
    {
      method: 'GET',
      path: '/api/v1/downloads/:run/:kind/:name/:file',
      isOpen: true,
      answer: async (call) => {
        const file = call.params[3] ?? '';
        const expires = Number(call.query.get('expires'));
        const given = Buffer.from(call.query.get('signature') ?? '', 'base64url');
        const wanted = sign(pathOf(call, file), expires);
        if (given.length !== wanted.length || !timingSafeEqual(given, wanted) || !(expires > clock.now()))
          throw new Refusal(403, 'This link is invalid or has expired.');
        const checkpoint = checkpointAt(call, parts);
        const files = await filesOf(checkpoint);
        const one = files.find(({ name }) => name === file);
        const bytes =
          one?.bytes ?? (await promisify(gzip)(createTar(files, Math.floor(checkpoint.created / 1000))));
        if (one === undefined && file !== 'adapter.tar.gz') throw new Refusal(404, 'File not found.');
        return { status: 200, body: { type: 'application/octet-stream', bytes } };
      },
    },
  ];
}
