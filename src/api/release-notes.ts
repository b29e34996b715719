import { readFileSync } from 'node:fs';
import { PACKAGE_ROOT } from '../base/package.ts';

/** A release of the changelog. */
export interface Release {
  readonly version: string;
  /** Its day, `2026-11-17`; empty for what is not released. */
  readonly date: string;
  /** What its first lines say to those who upgrade. */
  readonly intro: string;
  /** The lines under each heading: Added, Changed, Fixed, Security, … */
  readonly changes: Readonly<Record<string, readonly string[]>>;
}

/** The releases after one version up to another, newest first, from the changelog that is in the package. */
export function releasesBetween(
  from: string,
  to: string,
  changelog: string = readFileSync(new URL('CHANGELOG.md', PACKAGE_ROOT), 'utf8'),
): readonly Release[] {
  return readChangelog(changelog).filter(
    ({ version }) => compareVersions(version, from) > 0 && compareVersions(version, to) <= 0,
  );
}

/** The releases of a changelog in the form of Keep a Changelog, in the order of the file. */
export function readChangelog(text: string): readonly Release[] {
  const parts = text.split(/^## \[/m).slice(1);
  return parts.flatMap((part) => {
    const head = /^(\d+\.\d+\.\d+)\](?: - (\d{4}-\d\d-\d\d))?/.exec(part);
    if (head === null) return [];
    const [intro = '', ...sections] = part.slice(part.indexOf('\n') + 1).split(/^### /m);
    const changes = sections.map((section) => {
      const [title = '', ...lines] = section.split('\n');
      return [title.trim(), bulletsOf(lines)] as const;
    });
    return [
      {
        version: head[1] ?? '',
        date: head[2] ?? '',
        intro: plainWords(intro),
        changes: Object.fromEntries(changes),
      },
    ];
  });
}

const bulletsOf = (lines: readonly string[]): readonly string[] =>
  lines.join('\n').split(/^- /m).slice(1).map(plainWords);

/** Without line breaks, links and marks of code, for a terminal. */
const plainWords = (text: string): string =>
  text
    .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replaceAll('`', '')
    .replaceAll(/\s+/g, ' ')
    .trim();

/** Below 0 when the first version is older. Numbers only: versions of releases have no suffix. */
export function compareVersions(one: string, other: string): number {
  const [a, b] = [one, other].map((version) => version.split(/[.-]/).map(Number));
  for (let at = 0; at < 3; at++) {
    const difference = (a?.[at] ?? 0) - (b?.[at] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}
