import { createHash } from 'node:crypto';
import { IDENTITY_TIERS, type IdentityTier, type LessonText, type Note } from '../../core/lesson.ts';

/** The files of an agent's folder, by the name that their lessons begin with. */
export const IDENTITY_FILES = { soul: 'SOUL.md', identity: 'IDENTITY.md' } as const;
export type IdentityFile = keyof typeof IDENTITY_FILES;

/** One section of a file is one lesson. */
export interface IdentityPlace {
  readonly agent: string;
  readonly file: IdentityFile;
  readonly tier: IdentityTier;
}

export type IdentitySections = Readonly<Partial<Record<IdentityTier, string>>>;

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
export const identityIdOf = ({ agent, file, tier }: IdentityPlace): string =>
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

export const identityTextOf = ({ agent, file, tier }: IdentityPlace, content: string): LessonText => ({
  name: `${file}-${tier}`,
  description: `Who you are: the ${tier} part of ${IDENTITY_FILES[file]}.`,
  content,
  scope: { agent },
  note: { ...NOTE, tier },
  evidence: { turns: [], quotes: [], learner: 'file' },
  taint: [],
});
