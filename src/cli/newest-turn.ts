import { statSync } from 'node:fs';
import { homedir } from 'node:os';
import path from 'node:path';
import { homeAt } from '../config/home.ts';
import type { DaemonApi } from '../core/daemon-api.ts';
import { asObject, asString, type JsonObject } from '../core/json.ts';
import { closestWord } from '../text/closest-word.ts';
import { type CommandContext, failure } from './context.ts';

export interface TurnFilter {
  readonly agent?: string;
  readonly project?: string;
}

/**
 * The turn that `last` means: the newest one of the agent or project that was named, else of the project you stand in, else
 * of all. Throws when there is none.
 */
export async function findNewestTurn(
  api: DaemonApi,
  { agent, project }: TurnFilter,
  context: CommandContext,
): Promise<JsonObject> {
  const named = {
    ...(agent === undefined ? {} : { agent }),
    ...(project === undefined ? {} : { projects: [await findProject(api, project, context)] }),
  };
  const isNamed = agent !== undefined || project !== undefined;
  const here = isNamed ? [] : await projectsOf(currentFolder(context.env), context);
  const turn =
    (isNamed ? undefined : await api.newestTurn({ projects: here })) ?? (await api.newestTurn(named));
  if (turn !== undefined) return turn;
  const of = [agent && `of agent "${agent}"`, project && `in project "${project}"`].filter(Boolean).join(' ');
  throw failure(
    isNamed ? `no turn ${of} is recorded` : 'no turn is recorded yet',
    isNamed ? 'see: instar sessions list' : 'point an agent at the gateway: instar connect',
  );
}

/** The ids of the projects of a folder. The redactor that this needs is loaded on demand. */
async function projectsOf(folder: string, { homeDir, env }: CommandContext): Promise<readonly string[]> {
  const { projectsOfFolder } = await import('../api/folder-projects.ts');
  return projectsOfFolder(folder, homeAt(homeDir), env);
}

/** The folder as the shell shows it, where that is the same one. */
function currentFolder({ PWD }: NodeJS.ProcessEnv): string {
  const real = process.cwd();
  if (PWD === undefined || !path.isAbsolute(PWD)) return real;
  const [a, b] = [statSync(PWD, { throwIfNoEntry: false }), statSync(real, { throwIfNoEntry: false })];
  return a !== undefined && a.ino === b?.ino && a.dev === b.dev ? PWD : real;
}

/** Sessions whose project is looked at for a label. */
const MOST_SEARCHED = 500;

/** The id of a project: of a folder, of the label that `sessions list` prints, or the id itself. Throws for an unknown one. */
export async function findProject(api: DaemonApi, text: string, context: CommandContext): Promise<string> {
  const folder = text.replace(/^~(?=$|[\\/])/, context.env.HOME ?? homedir());
  const ofFolder = async (): Promise<string | undefined> => (await projectsOf(folder, context))[0];
  if (/[\\/]|^\.{1,2}$|^~$/.test(text)) return (await ofFolder()) ?? text;
  const known = new Map<string, string>();
  for (const { project } of await api.sessions({ limit: MOST_SEARCHED })) {
    const id = asString(asObject(project).id);
    if (id === text) return id;
    if (id !== undefined) known.set(id, asString(asObject(project).label) ?? '');
  }
  const ids = [...known].flatMap(([id, label]) => (label === text ? [id] : []));
  if (ids.length > 1)
    throw failure(
      `several projects are labelled "${text}": ${ids.join(', ')}`,
      'give one of these ids, or its folder',
    );
  const only = ids[0] ?? (isFolder(folder) ? await ofFolder() : undefined);
  if (only !== undefined) return only;
  const closest = closestWord(text, [...known.values()]);
  throw failure(
    `no project is labelled "${text}"${closest === undefined ? '' : `; closest: "${closest}"`}`,
    'give a folder, or a label of: instar sessions list',
  );
}

const isFolder = (file: string): boolean => statSync(file, { throwIfNoEntry: false })?.isDirectory() === true;
