import { CommandError, EXIT } from './command-error.ts';

export interface WantedAddress {
  readonly host: string;
  readonly port: number;
  /** What to do about a host that is not this machine's. */
  readonly hostMend: string;
}

/** What is wrong with the address when nothing can listen there; undefined when the error is about something else. */
export function explainNoListening(
  error: unknown,
  { host, port, hostMend }: WantedAddress,
): CommandError | undefined {
  const refused = (message: string, mend: string) => new CommandError(EXIT.failed, message, mend);
  switch ((error as NodeJS.ErrnoException).code) {
    case 'EADDRINUSE':
      return refused(`port ${port} is taken by another program`, 'choose another with --port, or 0 for any');
    case 'EACCES':
      return refused(`port ${port} is not yours to use`, 'choose one above 1023 with --port');
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
      return refused(`${host} is not an address of this machine`, hostMend);
    default:
      return undefined;
  }
}
