import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import path from 'node:path';

export const AIDER = 'aider-chat==0.86.2';
const venv = path.resolve(import.meta.dirname, '../../.cache/clients/aider/venv');

/** Installs aider if it is missing, with a Python that it runs on. The reason when that is not possible. */
export function installAider(): { readonly bin: string } | { readonly missing: string } {
  const bin = path.join(venv, 'bin', 'aider');
  if (existsSync(bin)) return { bin };
  const python = ['python3.12', 'python3.11', 'python3.10'].find(runs);
  if (python === undefined) return { missing: 'aider needs Python 3.10, 3.11 or 3.12, and none is here' };
  try {
    execFileSync(python, ['-m', 'venv', venv], { stdio: 'ignore' });
    execFileSync(path.join(venv, 'bin', 'pip'), ['install', '--quiet', AIDER], { stdio: 'ignore' });
    return { bin };
  } catch (error) {
    return { missing: `${AIDER} could not be installed: ${error instanceof Error ? error.message : ''}` };
  }
}

function runs(command: string): boolean {
  try {
    execFileSync(command, ['--version'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}
