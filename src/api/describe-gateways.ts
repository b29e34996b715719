import { asArray, asNumber, asObject, asString, type JsonObject } from '../core/json.ts';
import { duration, plural } from '../text/phrases.ts';

/**
 * A line for each process of a record that several share, and what keeps this one from following the others: `gateway
 * http://127.0.0.1:4600 on host-a (pid 12, version 1.0.0): alive, this one; learns for all`. None for a record of one home.
 */
export function describeGateways({ sharedRecord, learning }: JsonObject): readonly string[] {
  const { gateways, problem } = asObject(sharedRecord);
  const holder = asString(asObject(asObject(learning).learner).holder);
  const why = asString(problem);
  return [
    ...asArray(gateways)
      .map(asObject)
      .map((one) => describeProcess(one, holder)),
    ...(sharedRecord !== undefined && holder === undefined ? ['nobody learns at the moment'] : []),
    ...(why === undefined ? [] : [`this one is behind the others: ${why}`]),
  ];
}

function describeProcess(process: JsonObject, holder: string | undefined): string {
  const { kind, url, host, pid, version, seenMsAgo, isAlive, isThis } = process;
  const what = kind === 'worker' ? 'worker' : `gateway ${asString(url) ?? '(it does not listen yet)'}`;
  const state =
    isAlive === true ? 'alive' : `not connected, last seen ${duration(asNumber(seenMsAgo) ?? 0)} ago`;
  // The holder of a lease is named `host/pid/…`.
  const learns = holder?.startsWith(`${String(host)}/${String(pid)}/`) === true && isAlive === true;
  return [
    `${what} on ${String(host)} (pid ${String(pid)}, version ${String(version)}): ${state}${isThis === true ? ', this one' : ''}`,
    ...(learns ? ['learns for all'] : []),
  ].join('; ');
}

/** `3 of all gateways; the file here says otherwise about learn.failures`; none where nothing is shared. */
export function describeSharedUse(settings: JsonObject): readonly string[] {
  if (settings.shared === undefined) return [];
  const { used, overruled, ignored } = asObject(settings.shared);
  const paths = asArray(overruled).flatMap((path) => asString(path) ?? []);
  const count = asArray(used).length + paths.length + asArray(ignored).length;
  return [
    `${plural(count, 'setting')} shared by all gateways of the record, ${asArray(used).length} in use here`,
    ...(paths.length === 0 ? [] : [`the file here wins for ${paths.join(', ')}`]),
  ];
}
