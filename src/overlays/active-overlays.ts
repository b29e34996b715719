import { existsSync } from 'node:fs';
import path from 'node:path';
import type { Log } from '../base/log.ts';
import { createLruMap } from '../base/lru-map.ts';
import { compact, type JsonObject } from '../core/json.ts';
import type { Lesson } from '../core/lesson.ts';
import type { Library } from '../core/library.ts';
import type { ActiveOverlay, ActiveOverlays, OverlayQuery } from '../core/overlay.ts';
import { encodeOverlay } from '../lessons/check-overlay.ts';
import { isInScope } from '../lessons/scope.ts';

interface ActiveOverlaysOptions {
  /** Undefined while the record cannot be read: then none is in force. */
  readonly library: () => Library | undefined;
  readonly now: () => number;
  /** Whether everything learned is switched off (see `kill-switch`). */
  readonly isOff: () => boolean;
}

const MOST_QUERIES = 512;
const NONE: readonly ActiveOverlay[] = [];

/**
 * The overlays of the library that are on trial or live, by agent, project and kind of run. They are collected once for each change of
 * the library; without any, a query is one comparison.
 */
export function createActiveOverlays(options: ActiveOverlaysOptions): ActiveOverlays {
  let followed: Library | undefined;
  let all: readonly { readonly lesson: Lesson; readonly overlay: ActiveOverlay }[] = [];
  const found = createLruMap<string, readonly ActiveOverlay[]>(MOST_QUERIES);
  const collect = (library: Library): void => {
    found.clear();
    all = library.lessons().flatMap((lesson) => {
      const overlay = activeOverlayOf(lesson, library);
      return overlay === undefined ? [] : [{ lesson, overlay }];
    });
  };
  const follow = (): void => {
    const library = options.library();
    if (library === undefined || library === followed) return;
    followed = library;
    library.onChange(() => collect(library));
    collect(library);
  };
  return {
    for: (query) => {
      follow();
      if (all.length === 0 || options.isOff()) return NONE;
      const { agent = null, project = null, runKind = null, member = null } = query;
      const key = JSON.stringify([agent, project, runKind, member]);
      let matching = found.get(key);
      if (matching === undefined) {
        matching = all.filter(({ lesson }) => isFor(lesson, query)).map(({ overlay }) => overlay);
        found.set(key, matching);
      }
      const now = options.now();
      const isExpired = all.some(({ lesson }) => (lesson.expiresAt ?? now + 1) <= now);
      return isExpired ? matching.filter((one) => !hasExpired(followed, one, now)) : matching;
    },
  };
}

const hasExpired = (library: Library | undefined, { lesson }: ActiveOverlay, now: number): boolean =>
  (library?.lesson(lesson)?.expiresAt ?? now + 1) <= now;

/** A query that names nothing asks for all. */
const isAll = ({ agent, project, runKind, member }: OverlayQuery): boolean =>
  agent === undefined && project === undefined && runKind === undefined && member === undefined;

const isFor = ({ text: { scope } }: Lesson, { agent, project, runKind, member }: OverlayQuery): boolean =>
  isInScope(
    scope,
    {
      agent: agent ?? 'unknown',
      ...(project === undefined ? {} : { project }),
      ...(runKind === undefined ? {} : { runKind }),
      ...(member === undefined ? {} : { member }),
    },
    undefined,
  );

/** Those in force among these lessons, as JSON: for people, with and without a daemon. */
export const listOverlays = (lessons: readonly Lesson[], query: OverlayQuery): readonly JsonObject[] =>
  lessons
    .filter((lesson) => isAll(query) || isFor(lesson, query))
    .flatMap((lesson) => {
      const { id, state, revision, text } = lesson;
      if (text.overlay === undefined || (state !== 'trial' && state !== 'live')) return [];
      const scope = { ...text.scope };
      const { visibility } = text.note;
      return [
        { lesson: id, name: text.name, revision, state, scope, visibility, ...encodeOverlay(text.overlay) },
      ];
    });

/** Undefined for a lesson without an overlay, and for one that is not in use. */
function activeOverlayOf({ id, state, revision, text }: Lesson, library: Library): ActiveOverlay | undefined {
  if (text.overlay === undefined || (state !== 'trial' && state !== 'live')) return undefined;
  const isApproved = library
    .history(id)
    .some(
      ({ by, op, revision: of }) =>
        by.kind === 'person' && (op === 'move' || op === 'add') && of === revision,
    );
  const { payload, from } = text.overlay;
  const learned = from === undefined ? {} : { isLearned: true, ...compact({ onlyFor: from.onlyFor }) };
  return { lesson: id, name: text.name, revision, state, payload, isApproved, ...learned };
}

/** The name of the file in the home. Whatever is in it: while it exists, nothing learned acts and nothing is learned. */
const KILL_FILE = 'learning-off';

/** In the same folder as the record. */
export const killFileBeside = (storeFile: string): string => path.join(path.dirname(storeFile), KILL_FILE);

const KNOWN_MS = 50;

export interface KillSwitch {
  readonly isOff: () => boolean;
}

/**
 * A switch that works without the record and without the API: `touch HOME/learning-off`. It is for the moment when something learned
 * does harm and nothing else answers. Removing the file turns everything on again. It is looked for when somebody
 * asks, and again after 50 ms: a timer would wake an idle process, and a watch of the home would report every write to the record.
 */
export function createKillSwitch(home: string, log: Log): KillSwitch {
  const file = path.join(home, KILL_FILE);
  let wasOff = false;
  let lookedAt = Number.NEGATIVE_INFINITY;
  const look = (): boolean => {
    const now = performance.now();
    if (now - lookedAt < KNOWN_MS) return wasOff;
    lookedAt = now;
    const isOff = existsSync(file);
    if (isOff && !wasOff)
      log.warn({ file }, 'everything learned is switched off: remove the file to turn it on again');
    if (!isOff && wasOff) log.info({ file }, 'everything learned is on again');
    wasOff = isOff;
    return isOff;
  };
  look();
  return { isOff: look };
}
