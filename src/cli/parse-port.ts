import { InvalidArgumentError } from 'commander';

export function parsePort(text: string): number {
  const port = Number(text);
  if (!/^\d{1,5}$/.test(text) || port > 65_535)
    throw new InvalidArgumentError('Give a number from 0 to 65535.');
  return port;
}
