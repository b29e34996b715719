import {
  chmodSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { checkConfig } from '../../src/config/check-config.ts';
import { type Home, openHome } from '../../src/config/home.ts';
import { readClientFile } from '../../src/connect/client-file.ts';
import { planConnection } from '../../src/connect/clients.ts';
import { connectClient } from '../../src/connect/connect.ts';
import type { ClientConnection } from '../../src/connect/connection.ts';
import type { ClientName } from '../../src/core/client-name.ts';

export const KEY = 'k3y'.repeat(16);

/** A config with one provider that has a key, so that clients need Instar's. */
export const OWN_KEY = {
  providers: { openai: { wire: 'openai', baseUrl: 'https://api.openai.com/v1', keyEnv: 'OPENAI_API_KEY' } },
  models: { default: 'openai/gpt-5.2' },
};

export const connectionOf = (
  config: unknown = OWN_KEY,
  more: Partial<ClientConnection> = {},
): ClientConnection => ({
  url: 'http://127.0.0.1:4600',
  key: KEY,
  keyFile: '/home/dev/.instar/key',
  config: checkConfig(config, { env: {} }).config,
  ...more,
});

/** Someone with a home folder of their own and an Instar home beside it, both on disk. */
export interface Person {
  readonly homeDir: string;
  readonly home: Home;
  write(file: string, text: string | Buffer, mode?: number): string;
  read(file: string): string;
  connect(
    client: ClientName,
    connection?: ClientConnection,
    env?: NodeJS.ProcessEnv,
  ): ReturnType<typeof connectClient>;
  remove(): void;
}

export function createPerson(): Person {
  const root = mkdtempSync(join(tmpdir(), 'instar-connect-'));
  const homeDir = join(root, 'person');
  mkdirSync(homeDir);
  const home = openHome(join(root, 'instar'));
  const read = (file: string) => readClientFile(file).content?.bytes.toString('utf8');
  return {
    homeDir,
    home,
    write: (file, text, mode = 0o644) => {
      const path = join(homeDir, file);
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, text);
      chmodSync(path, mode);
      return path;
    },
    read: (file) => readFileSync(join(homeDir, file), 'utf8'),
    connect: (client, connection = connectionOf(), env = {}) => {
      const { edits } = planConnection(client, connection, { env, homeDir, read });
      return connectClient(home, client, { edits, secret: connection.key });
    },
    remove: () => rmSync(root, { recursive: true, force: true }),
  };
}

/** Everything below a folder: names, modes, bytes, where links lead. */
export function treeOf(folder: string): Readonly<Record<string, string>> {
  const tree: Record<string, string> = {};
  for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
    const path = join(folder, name);
    const stats = lstatSync(path);
    const content = stats.isSymbolicLink()
      ? `-> ${readlinkSync(path)}`
      : stats.isFile()
        ? readFileSync(path).toString('base64')
        : 'folder';
    tree[name] = `${(stats.mode & 0o777).toString(8)} ${content}`;
  }
  return tree;
}
