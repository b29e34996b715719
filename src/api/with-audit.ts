import type { DaemonApi, KeysApi, LessonsApi, OwnerApis } from '../core/daemon-api.ts';
import { asArray, asObject, asString, type JsonObject } from '../core/json.ts';
import type { Audit } from '../record/audit-trail.ts';

/**
 * The same APIs for the holder of one key: every change is in the audit trail, with the id of the key, before it is made.
 * A change that cannot be audited is not made.
 */
export function withAudit({ api, lessonsApi, keysApi }: OwnerApis, audit: Audit, key: string): OwnerApis {
  const note: Note = (action, subject) => audit({ action, subject, key });
  return {
    api: withNotedCalls(api, note, key),
    lessonsApi: withNotedLessons(lessonsApi, note),
    keysApi: withNotedKeys(keysApi, note, key),
  };
}

/** Resolves when it is in the audit trail. */
type Note = (action: string, subject: string) => Promise<void>;

const withNotedCalls = (api: DaemonApi, note: Note, key: string): DaemonApi => ({
  ...api,
  erase: async (id) => {
    await note('sessions.erase', id);
    return api.erase(id);
  },
  practice: async (request) => {
    const what = asString(request.do) ?? '';
    if (CHANGING.has(what)) await note(`practice.${what}`, describePractice(request));
    return api.practice(CHANGING.has(what) ? { ...request, by: key } : request);
  },
  consolidate: async (request) => {
    if (request.apply === true) await note('lessons.consolidate', '');
    return api.consolidate(request);
  },
  startTraining: async (request) => {
    const stages = [request.reading && 'reading', request.remember && 'remember'];
    await note('train.run', [request.steps, ...stages].filter((part) => part).join(' '));
    return api.startTraining(request);
  },
  moveWeights: async (to) => {
    await note(`train.${to}`, '');
    return api.moveWeights(to);
  },
  confirmTime: async () => {
    await note('time.confirm', '');
    return api.confirmTime();
  },
  switchLearning: async (on) => {
    await note(on ? 'learning.on' : 'learning.off', '');
    return api.switchLearning(on);
  },
  backup: async (file) => {
    await note('backup', file);
    return api.backup(file);
  },
});

const withNotedLessons = (lessonsApi: LessonsApi, note: Note): LessonsApi => ({
  ...lessonsApi,
  change: async (body) => {
    await note('lessons.change', describeChanges(body));
    return lessonsApi.change(body);
  },
  rollback: async (to) => {
    await note('generations.rollback', String(to));
    return lessonsApi.rollback(to);
  },
});

const withNotedKeys = (keysApi: KeysApi, note: Note, key: string): KeysApi => ({
  ...keysApi,
  create: async (request) => {
    const may = request.mayRate === true ? ' (may rate)' : '';
    await note('keys.create', `${asString(request.name) ?? ''}${may}`);
    return keysApi.create(request);
  },
  change: async (idOrName, request) => {
    await note('keys.change', `${idOrName} ${JSON.stringify(request)}`);
    return keysApi.change(idOrName, request);
  },
  revoke: async (idOrName) => {
    await note('keys.revoke', idOrName);
    return keysApi.revoke(idOrName);
  },
  members: async (request) => {
    const what = asString(request.do) ?? '';
    if (!READING.has(what))
      await note(`members.${what}`, asString(request.name) ?? asString(request.asker) ?? '');
    return keysApi.members({ ...request, by: key });
  },
  setSetting: async (request) => {
    await note(request.shared === true ? 'config.share' : 'config.set', describeSetting(request));
    return keysApi.setSetting(request);
  },
  reload: async () => {
    await note('config.reload', '');
    return keysApi.reload();
  },
  confirm: async (settings) => {
    await note('config.confirm', JSON.stringify(settings));
    return keysApi.confirm(settings);
  },
});

const CHANGING: ReadonlySet<string> = new Set(['run', 'identity', 'reflect', 'stop', 'add', 'exclude']);

/** What only reads of the team. */
const READING: ReadonlySet<string> = new Set(['list', 'shared']);

/** Ids and kinds, never text. */
const describePractice = ({ kind, domain, agent, ids }: JsonObject): string =>
  [kind, domain, agent, ...asArray(ids)].flatMap((one) => asString(one) || []).join(' ');

/** `library.topK = 3`. Of texts only plain words are repeated: others may contain a secret. */
function describeSetting({ path, value, unset }: JsonObject): string {
  const name = asString(path) ?? asArray(path).join('.');
  if (unset === true) return `unset ${name}`;
  const isPlain =
    typeof value === 'number' || typeof value === 'boolean' || /^[a-z]{1,16}$/.test(String(value));
  return isPlain ? `${name} = ${String(value)}` : name;
}

/** `move l_1 to live; retire l_2`: ids, never text. */
const describeChanges = (body: JsonObject): string =>
  asArray(body.changes)
    .map((change) => {
      const { op, id, to } = asObject(change);
      return `${asString(op) ?? '?'} ${asString(id) ?? ''}${typeof to === 'string' ? ` to ${to}` : ''}`.trim();
    })
    .join('; ');
