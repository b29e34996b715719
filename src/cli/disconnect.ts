import { homeAt } from '../config/home.ts';
import { disconnectClient, type UndoneFile } from '../connect/disconnect.ts';
import { connectedClients } from '../connect/record.ts';
import { CommandError, EXIT, type ExitCode } from './command-error.ts';
import type { CommandContext } from './context.ts';

const SAID: Readonly<Record<UndoneFile['kind'], string>> = {
  exact: 'as it was before',
  changed: 'changed by someone else since; only what Instar had put there was taken out',
  gone: 'is gone, and was left so',
  unreadable: 'changed by someone else since, and cannot be read; take out what names Instar by hand',
};

/** `connect --undo`: puts back the files of one client, or of all. */
export function disconnect(client: string | undefined, { homeDir, printer }: CommandContext): ExitCode {
  const home = homeAt(homeDir);
  const clients = client === undefined ? connectedClients(home) : [client];
  const undone = clients.flatMap((name) => {
    const files = disconnectClient(home, name);
    return files === undefined ? [] : [{ client: name, files }];
  });
  if (undone.length === 0) {
    const what = client === undefined ? 'no client is connected' : `${client} is not connected`;
    throw new CommandError(EXIT.failed, `${what}, so there is nothing to put back`);
  }
  const isWhole = undone.every(({ files }) => files.every(({ kind }) => kind !== 'unreadable'));
  if (printer.json) printer.document({ undone, ok: isWhole });
  else {
    for (const { files } of undone)
      for (const { file, kind } of files) printer.line(`${file}: ${SAID[kind]}`);
  }
  return isWhole ? EXIT.ok : EXIT.failed;
}
