import { createHash } from 'node:crypto';
import { basename, isAbsolute, join } from 'node:path';
import { type Repository, readRepository } from '../../src/base/repository.ts';

type Body = Readonly<Record<string, unknown>>;

/** The body with the project of its folder, by hashes: no path leaves the client. */
export async function inProject({ folder, ...body }: Body): Promise<Body> {
  if (typeof folder !== 'string') return body;
  const found = await readRepository(folder);
  const repository = found === undefined ? {} : { repository: await describe(folder, found) };
  return { ...body, project: projectId(folder), ...repository };
}

/** The project of a repository as the gateway derives it. Which one the clones of an address are, only Instar knows. */
async function describe(folder: string, { name, main, origin, within }: Repository): Promise<Body> {
  if (name !== undefined) return { id: hash(`project\n${name}\n${within}`), label: name };
  const isOfFolder =
    origin !== undefined && isAbsolute(origin) && (await readRepository(origin)) !== undefined;
  const root = isOfFolder ? origin : main;
  const own = root === undefined ? folder : join(root, within);
  const remote = origin === undefined || isAbsolute(origin) ? {} : { origin, within };
  return { id: projectId(own), label: basename(own), ...remote };
}

/** The id under which Instar's gateway knows a folder. */
const projectId = (folder: string): string =>
  hash(folder.length > 1 ? folder.replace(/(?<=[^:\\/])[\\/]+$/, '') : folder);

const hash = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 12);
