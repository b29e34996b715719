import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import path from 'node:path';

/** A client that pip installs. */
export interface PythonClient {
  readonly name: string;
  /** What pip is asked for: `aider-chat==0.86.2`. */
  readonly requirement: string;
  /** The Pythons that it runs on, the best first. */
  readonly pythons: readonly string[];
}

export const AIDER: PythonClient = {
  name: 'aider',
  requirement: 'aider-chat==0.86.2',
  pythons: ['python3.12', 'python3.11', 'python3.10'],
};
export const HERMES: PythonClient = {
  name: 'hermes',
  requirement: 'hermes-agent==0.19.0',
  pythons: ['python3.11', 'python3.12', 'python3.13'],
};

/** Installs it if it is missing. The reason when that is not possible. */
export function installPythonClient({
  name,
  requirement,
  pythons,
}: PythonClient): { readonly bin: string } | { readonly missing: string } {
  const venv = path.resolve(import.meta.dirname, '../../.cache/clients', name, 'venv');
  const bin = path.join(venv, 'bin', name);
  if (existsSync(bin)) return { bin };
  const python = pythons.find(runs);
  if (python === undefined)
    return { missing: `${name} needs one of ${pythons.join(', ')}, and none is here` };
  try {
    execFileSync(python, ['-m', 'venv', venv], { stdio: 'ignore' });
    execFileSync(path.join(venv, 'bin', 'pip'), ['install', '--quiet', requirement], { stdio: 'ignore' });
    return { bin };
  } catch (error) {
    return {
      missing: `${requirement} could not be installed: ${error instanceof Error ? error.message : ''}`,
    };
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
