import { spawn } from 'node:child_process';

const OPENERS: Partial<Record<NodeJS.Platform, readonly string[]>> = {
  darwin: ['open'],
  win32: ['rundll32', 'url.dll,FileProtocolHandler'],
};

/** Opens a URL as a click would; no shell reads it. A machine without an opener says so to `onFault`. */
export function openUrl(url: string, onFault: (message: string) => void): void {
  const [command = 'xdg-open', ...rest] = OPENERS[process.platform] ?? ['xdg-open'];
  const child = spawn(command, [...rest, url], { stdio: 'ignore', detached: true });
  child.once('error', (error) => onFault(error.message));
  child.unref();
}
