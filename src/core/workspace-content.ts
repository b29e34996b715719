import { asObject, asString, parseJson } from './json.ts';
import type { WorkspaceSnapshot } from './practice.ts';

/** What a work tree has beside its commit. */
type WorkspaceContent = Pick<Extract<WorkspaceSnapshot, { readonly kind: 'git' }>, 'diff' | 'untracked'>;

/** As the text of a block; undefined when there is nothing beside the commit. */
export function writeWorkspaceContent({ diff = '', untracked = {} }: WorkspaceContent): string | undefined {
  const names = Object.keys(untracked).sort();
  if (diff === '' && names.length === 0) return undefined;
  const files = Object.fromEntries(names.map((name) => [name, untracked[name] ?? '']));
  return JSON.stringify({
    ...(diff === '' ? {} : { diff }),
    ...(names.length === 0 ? {} : { untracked: files }),
  });
}

export function readWorkspaceContent(text: string): WorkspaceContent {
  const value = asObject(parseJson(text));
  const diff = asString(value.diff);
  const untracked = Object.entries(asObject(value.untracked)).flatMap(([path, content]) =>
    typeof content === 'string' ? [[path, content] as const] : [],
  );
  return {
    ...(diff === undefined ? {} : { diff }),
    ...(untracked.length === 0 ? {} : { untracked: Object.fromEntries(untracked) }),
  };
}
