import { createHash } from 'node:crypto';
import { lstat, mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { replaceFile } from '../../base/atomic-file.ts';
import {
  type Change,
  IDENTITY_TIERS,
  type IdentityTier,
  type Lesson,
  type LessonText,
  type Note,
} from '../../core/lesson.ts';
import type { Library } from '../../core/library.ts';
import { revisedIds, withLinksOf } from '../links.ts';
import {
  type FolderFollower,
  type FolderPass,
  followFolder,
  POLL_MS,
  watchFolders,
} from '../skill-files/follow-folder.ts';
import { lintText, proposeBeside, toReason } from '../skill-files/gate-file.ts';
import { readUntrustedFile } from '../skill-files/scan-skills.ts';
import { type FileFault, isSkillFault } from '../skill-files/skill-file.ts';
import type { SkillMirrorOptions } from '../skill-files/skill-mirror.ts';

type IdentityMirrorOptions = Omit<SkillMirrorOptions, 'clock' | 'watch'>;

const MOST_AGENTS = 200;
/** A folder is named as its agent; a pattern or a path is not a name. */
const AGENT = /^[A-Za-z0-9_][A-Za-z0-9_.@-]{0,63}$/;
const FILES: readonly IdentityFile[] = ['soul', 'identity'];
const BY_FILE = 'it came by file, and every program can write one';

/**
 * Follows the files `AGENT/SOUL.md` and `AGENT/IDENTITY.md`. What a file says that the library does not is proposed, and waits for a
 * person; the file is left alone meanwhile. A file that only says what the library once had, or what a person rejected, or that
 * is missing, is written from what is in use: neither an edit nor a deletion changes an identity by itself. Never throws or rejects.
 */
export function createIdentityMirror(options: IdentityMirrorOptions): FolderFollower {
  const { dir, library, pollMs = POLL_MS } = options;
  /** The text of a file that was read a moment ago: editors write in steps. */
  const before = new Map<string, string>();
  const pass = async (isStopped: () => boolean): Promise<FolderPass> => {
    const faults: FileFault[] = [];
    let hasMore = false;
    const agents = await listAgents(dir, library, faults);
    for (const agent of agents)
      for (const file of FILES) {
        if (isStopped()) return { hasMore: false, faults };
        const path = join(dir, agent, IDENTITY_FILES[file]);
        try {
          hasMore = (await syncFile({ ...options, agent, file, path, before, faults })) || hasMore;
        } catch (error) {
          const { code, message } = error as NodeJS.ErrnoException;
          const why = `cannot be synchronised (${code ?? message}); it will be tried again`;
          faults.push({ file: path, why });
        }
      }
    return { hasMore, faults, folders: agents };
  };
  return followFolder(pass, { ...options, pollMs, watch: watchFolders });
}

/** The folders of agents, and the agents of the library that have none. */
async function listAgents(dir: string, library: Library, faults: FileFault[]): Promise<readonly string[]> {
  const entries = await readdir(dir, { withFileTypes: true }).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    throw error;
  });
  const agents = new Set<string>();
  for (const entry of entries) {
    if (entry.name.startsWith('.')) continue;
    if (entry.isDirectory() && AGENT.test(entry.name)) agents.add(entry.name);
    else
      faults.push({ file: join(dir, entry.name), why: 'is not a folder named as an agent: it is not read' });
  }
  for (const { kind, id, text } of library.lessons()) {
    const { agent } = text.scope;
    if (kind === 'identity' && agent !== undefined && id.startsWith('id_') && AGENT.test(agent))
      agents.add(agent);
  }
  return [...agents].slice(0, MOST_AGENTS);
}

interface FileScene extends IdentityMirrorOptions {
  readonly agent: string;
  readonly file: IdentityFile;
  readonly path: string;
  readonly before: Map<string, string>;
  readonly faults: FileFault[];
}

/** Returns whether another pass is due. */
async function syncFile({ agent, file, path, before, faults, dir, ...parts }: FileScene): Promise<boolean> {
  const { library, newId, lint } = parts;
  const read = await readUntrustedFile(path);
  if (read !== undefined && isSkillFault(read)) {
    faults.push({ file: path, why: read.why });
    return false;
  }
  const inUse = sectionsInUse(library, agent, file);
  const isSettled = before.get(path) === (read?.text ?? '');
  before.set(path, read?.text ?? '');
  const written = read === undefined ? {} : parseIdentityFile(read.text);
  const { changes, isOld, waits } = compareSections(written, { agent, file, library, lint });
  const isMissing = Object.keys(inUse).some((tier) => written[tier as IdentityTier] === undefined);
  if (changes.length === 0 && (waits || !(isOld || isMissing))) return false;
  if (!isSettled) return true;
  if (changes.length > 0) {
    const by = { kind: 'file', name: IDENTITY_FILES[file] } as const;
    const reason = `${IDENTITY_FILES[file]} of ${agent} was edited`;
    const { results } = await library.publish({ id: newId('f'), by, reason, changes });
    for (const result of results)
      if (result.status === 'refused') faults.push({ file: path, why: `is not used: ${result.why}` });
    return false;
  }
  if (Object.keys(inUse).length === 0) return false;
  await mkdir(join(dir, agent), { recursive: true, mode: 0o700 });
  // The folder may have become a link: nothing is written through it.
  if (!(await lstat(join(dir, agent))).isDirectory()) return false;
  await replaceFile(path, renderIdentityFile(agent, file, inUse));
  return false;
}

const isUsed = (lesson: Lesson | undefined): lesson is Lesson =>
  lesson?.state === 'live' || lesson?.state === 'trial';

function sectionsInUse(library: Library, agent: string, file: IdentityFile): IdentitySections {
  const sections: Partial<Record<IdentityTier, string>> = {};
  for (const tier of IDENTITY_TIERS) {
    const lesson = library.lesson(identityIdOf({ agent, file, tier }));
    if (isUsed(lesson)) sections[tier] = lesson.text.content;
  }
  return sections;
}

interface ComparedSections {
  readonly changes: readonly Change[];
  /** A section has a text that was in use once, or that a person rejected. */
  readonly isOld: boolean;
  /** A section waits for a person. */
  readonly waits: boolean;
}

function compareSections(
  written: IdentitySections,
  { agent, file, library, lint }: Pick<FileScene, 'agent' | 'file' | 'library' | 'lint'>,
): ComparedSections {
  const changes: Change[] = [];
  let [isOld, waits] = [false, false];
  for (const tier of IDENTITY_TIERS) {
    const content = written[tier];
    if (content === undefined) continue;
    const place = { agent, file, tier };
    const id = identityIdOf(place);
    const text = identityTextOf(place, content);
    const reasons = [BY_FILE, ...lintText(text, lint)];
    const lesson = library.lesson(id);
    if (lesson === undefined) {
      changes.push({ op: 'add', id, kind: 'identity', state: 'proposed', text, reason: toReason(reasons) });
    } else if (lesson.state === 'proposed') {
      waits = true;
      if (lesson.text.content !== content)
        changes.push({ op: 'revise', id, from: lesson.revision, text, reason: toReason(reasons) });
    } else if (isUsed(lesson) && lesson.text.content === content) continue;
    else if (library.history(id).some((event) => event.text.content === content)) isOld = true;
    else {
      const beside = library
        .lessons()
        .filter(({ text: { content: other, note } }) => other === content && revisedIds(note).includes(id));
      if (beside.some(({ state }) => state === 'proposed')) waits = true;
      else if (beside.length > 0) isOld = true;
      else {
        // One proposal of a section waits at a time: a program that writes again and again does not fill the list.
        const pending = library
          .lessons()
          .find(
            ({ state, text: { evidence, note } }) =>
              state === 'proposed' && evidence.learner === 'file' && revisedIds(note).includes(id),
          );
        const proposal =
          pending === undefined
            ? proposeBeside(lesson, text, reasons, (one) => library.find(one))
            : revisePending(pending, text, toReason(reasons));
        if (proposal !== undefined) changes.push(proposal);
      }
    }
  }
  return { changes, isOld, waits };
}

const revisePending = (
  { id, revision, text: { name, note } }: Lesson,
  text: LessonText,
  reason: string,
): Change => ({
  op: 'revise',
  id,
  from: revision,
  text: { ...text, name, note: withLinksOf(text.note, note) },
  reason,
});

/** The files of an agent's folder, by the name that their lessons begin with. */
const IDENTITY_FILES = { soul: 'SOUL.md', identity: 'IDENTITY.md' } as const;
type IdentityFile = keyof typeof IDENTITY_FILES;

/** One section of a file is one lesson. */
interface IdentityPlace {
  readonly agent: string;
  readonly file: IdentityFile;
  readonly tier: IdentityTier;
}

type IdentitySections = Readonly<Partial<Record<IdentityTier, string>>>;

const HEADING = /^##[ \t]+(core|guarded|free)[ \t]*$/i;

/**
 * A file has the sections `## Core`, `## Guarded` and `## Free`. Text above the first of them is guarded; a title is left out. Other
 * headings belong to their section. A section that comes twice is read as one.
 */
export function parseIdentityFile(text: string): IdentitySections {
  const lines = text
    .replace(/^\ufeff/, '')
    .replace(/\r\n?/g, '\n')
    .split('\n');
  const found: Record<IdentityTier, string[]> = { core: [], guarded: [], free: [] };
  let tier: IdentityTier = 'guarded';
  let isTitled = false;
  for (const line of lines) {
    const named = HEADING.exec(line)?.[1]?.toLowerCase();
    const next = IDENTITY_TIERS.find((one) => one === named);
    if (next !== undefined) tier = next;
    else if (!isTitled && /^#[ \t]/.test(line)) isTitled = true;
    else found[tier].push(line);
  }
  const sections: Partial<Record<IdentityTier, string>> = {};
  for (const one of IDENTITY_TIERS) {
    const words = found[one].join('\n').trim();
    if (words !== '') sections[one] = words;
  }
  return sections;
}

const TITLES = { soul: 'Soul', identity: 'Identity' } as const;
const HEADINGS = { core: '## Core', guarded: '## Guarded', free: '## Free' } as const;

export const renderIdentityFile = (agent: string, file: IdentityFile, sections: IdentitySections): string =>
  `${[
    `# ${TITLES[file]} of ${agent}`,
    ...IDENTITY_TIERS.flatMap((tier) => {
      const words = sections[tier];
      return words === undefined ? [] : [`${HEADINGS[tier]}\n\n${words}`];
    }),
  ].join('\n\n')}\n`;

/** The lesson of a section has the same id always: a section is never two lessons. */
const identityIdOf = ({ agent, file, tier }: IdentityPlace): string =>
  `id_${createHash('sha256').update(`${agent}\n${file}\n${tier}`).digest('hex').slice(0, 20)}`;

const NOTE: Omit<Note, 'tier'> = {
  keywords: [],
  tags: [],
  importance: 1,
  confidence: 1,
  source: 'told',
  visibility: 'scoped',
  halfLifeDays: 3650,
  links: [],
};

const identityTextOf = ({ agent, file, tier }: IdentityPlace, content: string): LessonText => ({
  name: `${file}-${tier}`,
  description: `Who you are: the ${tier} part of ${IDENTITY_FILES[file]}.`,
  content,
  scope: { agent },
  note: { ...NOTE, tier },
  evidence: { turns: [], quotes: [], learner: 'file' },
  taint: [],
});
