import { readFileSync } from 'node:fs';
import { PACKAGE_ROOT, VERSION } from '../base/package.ts';
import { ConfigError } from '../config/config-error.ts';
import { editRemoved, writeConfigText } from '../config/edit-config.ts';
import { type Home, HomeInUseError } from '../config/home.ts';
import { noteHomeVersion, readHomeVersion } from '../config/home-version.ts';
import { loadConfig } from '../config/load-config.ts';
import { readStoreUrl } from '../config/store-url.ts';
import { lockHome } from '../record/home-lock.ts';
import { formatOfStore, NEWEST_FORMAT, type StoreUpgrade, upgradeStore } from '../record/upgrade-store.ts';
import { keepOldFormat } from './take-home.ts';

/** What an upgrade of a home would do. */
export interface UpgradePlan {
  /** The version that last ran on the home; undefined for a home that nothing has run on. */
  readonly from: string | undefined;
  readonly to: string;
  readonly releases: readonly Release[];
  readonly record:
    | { readonly is: 'none' }
    /** The server's tables are changed by the first daemon that starts. */
    | { readonly is: 'postgres' }
    /** `format` 0: only the upgrade can tell. */
    | { readonly is: 'file'; readonly format: number; readonly newFormat: number };
  /** Whether the format of the record changes. */
  readonly isMigration: boolean;
  /** Why the config cannot be used by this version, each with its fix. */
  readonly configProblem?: string;
  /** Settings that this version no longer has, with what holds in their place: the upgrade takes them out of the file. */
  readonly removedSettings: readonly string[];
}

/** Reads only. Throws `StoreError` for a record that this version cannot use. */
export function planUpgrade(home: Home, env: NodeJS.ProcessEnv): UpgradePlan {
  const from = readHomeVersion(home);
  const record = describeRecord(home);
  const config = readWarnings(home, env);
  return {
    from,
    to: VERSION,
    releases: from === undefined ? [] : releasesBetween(from, VERSION),
    record,
    isMigration: record.is === 'file' && record.format !== record.newFormat,
    removedSettings: config.ok ? config.warnings : [],
    ...(config.ok ? {} : { configProblem: config.why }),
  };
}

export interface UpgradeResult extends Partial<StoreUpgrade> {
  /** The copy of the record as it was; undefined when its format did not change, or no copy was asked for. */
  readonly backup?: string;
  /** The config as it was; undefined when it had no removed settings. */
  readonly oldConfig?: string;
}

/**
 * Backs the record up, unless `isCopied` is false, and changes its format, under the lock of the home; removed settings leave the
 * config. Throws
 * `HomeInUseError` while another process has it.
 */
export function upgradeHome(
  home: Home,
  plan: UpgradePlan,
  env: NodeJS.ProcessEnv,
  isCopied = true,
): UpgradeResult {
  const lock = lockHome(home.lockFile);
  if (lock === undefined) throw new HomeInUseError(`${home.dir} is in use by another Instar process.`);
  try {
    const copy = plan.isMigration && isCopied ? keepOldFormat(home) : undefined;
    const backup = copy === undefined ? {} : { backup: copy.file };
    const result = plan.isMigration ? { ...backup, ...upgradeStore(home.storeFile) } : {};
    const edited = editRemoved(home.configFile, env);
    const written = edited === undefined ? undefined : writeConfigText(home.configFile, edited.text);
    if (plan.from !== undefined) noteHomeVersion(home, plan.to);
    return { ...result, ...(written?.backup === undefined ? {} : { oldConfig: written.backup }) };
  } finally {
    lock.release();
  }
}

function describeRecord(home: Home): UpgradePlan['record'] {
  if (readStoreUrl(home.configFile) !== 'sqlite') return { is: 'postgres' };
  const format = formatOfStore(home.storeFile);
  return format === undefined ? { is: 'none' } : { is: 'file', format, newFormat: NEWEST_FORMAT };
}

type ReadWarnings =
  | { readonly ok: true; readonly warnings: readonly string[] }
  | { readonly ok: false; readonly why: string };

function readWarnings(home: Home, env: NodeJS.ProcessEnv): ReadWarnings {
  try {
    return { ok: true, warnings: loadConfig({ file: home.configFile, env }).warnings };
  } catch (error) {
    if (error instanceof ConfigError) return { ok: false, why: error.message };
    throw error;
  }
}

/** A release of the changelog. */
interface Release {
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
