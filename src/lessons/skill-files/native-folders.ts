import { join, sep } from 'node:path';

/** Where programs look for skills, below a project, a workspace or a home folder. */
export const NATIVE_FOLDERS = {
  'claude-code': ['.claude', 'skills'],
  openclaw: ['skills'],
  agents: ['.agents', 'skills'],
} as const satisfies Readonly<Record<string, readonly string[]>>;

export type SkillProgram = keyof typeof NATIVE_FOLDERS;

/** The folder of a program's skills below `dir`; `dir` itself where it is that folder already, or without a program. */
export function nativeFolder(dir: string, program: SkillProgram | undefined): string {
  if (program === undefined) return dir;
  const parts: readonly string[] = NATIVE_FOLDERS[program];
  for (let inside = parts.length; inside > 0; inside--)
    if (dir.endsWith(sep + parts.slice(0, inside).join(sep))) return join(dir, ...parts.slice(inside));
  return join(dir, ...parts);
}
