import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { type AlertQueue, isDeliveryDue, openAlertQueue } from '../../src/alerts/alert-queue.ts';
import type { AlertCause } from '../../src/alerts/find-alerts.ts';

const folder = mkdtempSync(path.join(tmpdir(), 'instar-alerts-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
let nth = 0;
const newFile = (): string => path.join(folder, `${nth++}.json`);
const NOW = Date.parse('2026-11-19T10:00:00Z');
const HOUR = 3_600_000;
const cause = (name: string, event: AlertCause['event'] = 'decision'): AlertCause => ({
  cause: `${event}/${name}`,
  event,
  text: name,
});
const take = (queue: AlertQueue, now: number): readonly string[] => {
  const delivery = queue.pack(now);
  queue.sent();
  return delivery?.alerts.map(({ text }) => text) ?? [];
};

describe('a cause', () => {
  it('is told once while it stays, and again after it was gone for an hour (not each time it blinks)', () => {
    const queue = openAlertQueue(newFile());
    const seen = [0, 1, 2, 3].map((minutes) => {
      queue.add([cause('a')], NOW + minutes * 60_000);
      return take(queue, NOW + minutes * 60_000);
    });
    expect(seen).toEqual([['a'], [], [], []]);
    queue.add([], NOW + 0.5 * HOUR);
    queue.add([cause('a')], NOW + 0.6 * HOUR);
    expect(take(queue, NOW + 0.6 * HOUR)).toEqual([]);
    queue.add([], NOW + 2 * HOUR);
    queue.add([cause('a')], NOW + 2 * HOUR);
    expect(take(queue, NOW + 2 * HOUR)).toEqual(['a']);
  });

  it('stays told over a restart that took longer than it is remembered', async () => {
    const file = newFile();
    const queue = openAlertQueue(file);
    queue.add([cause('a')], NOW);
    take(queue, NOW);
    await queue.save();
    const later = openAlertQueue(file);
    later.add([], NOW + 9 * HOUR);
    later.add([cause('a')], NOW + 9 * HOUR + 1000);
    expect(take(later, NOW + 9 * HOUR + 1000)).toEqual([]);
  });

  it('has the same id in every process, so that a receiver knows it', () => {
    const ids = [newFile(), newFile()].map((file) => {
      const queue = openAlertQueue(file);
      queue.add([cause('a')], NOW);
      return queue.pack(NOW)?.alerts[0]?.id;
    });
    expect(ids[0]).toBe(ids[1]);
  });
});

describe('a storm', () => {
  it('keeps the newest hundred and says how many were dropped', () => {
    const queue = openAlertQueue(newFile());
    queue.add(
      Array.from({ length: 250 }, (_, at) => cause(String(at), 'rule')),
      NOW,
    );
    const delivery = queue.pack(NOW);
    expect(delivery?.alerts).toHaveLength(100);
    expect(delivery?.alerts.at(-1)?.text).toBe('249');
    expect(delivery?.dropped).toBe(150);
  });
});

describe('a message that is not taken', () => {
  it('is tried again after 10 s, 20 s, 40 s … and at most an hour, or when the receiver says', () => {
    const queue = openAlertQueue(newFile());
    queue.add([cause('a')], NOW);
    queue.pack(NOW);
    const pauses = Array.from({ length: 12 }, () => {
      queue.failed(NOW, undefined);
      return ((queue.delivery?.nextAt ?? 0) - NOW) / 1000;
    });
    expect(pauses).toEqual([10, 20, 40, 80, 160, 320, 640, 1280, 2560, 3600, 3600, 3600]);
    queue.failed(NOW, 1e9);
    expect((queue.delivery?.nextAt ?? 0) - NOW).toBe(HOUR);
    expect(queue.delivery && isDeliveryDue(queue.delivery, NOW + HOUR - 1)).toBe(false);
    // The clock was set back by a year.
    expect(queue.delivery && isDeliveryDue(queue.delivery, NOW - 365 * 24 * HOUR)).toBe(true);
  });

  it('keeps its id and its alerts while more come, which follow in the next one', () => {
    const queue = openAlertQueue(newFile());
    queue.add([cause('a')], NOW);
    const first = queue.pack(NOW);
    queue.failed(NOW, undefined);
    queue.add([cause('b')], NOW + 1);
    expect(queue.pack(NOW + 1)).toMatchObject({ id: first?.id, alerts: first?.alerts, tries: 1 });
    queue.sent();
    expect(take(queue, NOW + 2)).toEqual(['b']);
  });

  it('is dropped after three days', () => {
    const queue = openAlertQueue(newFile());
    queue.add([cause('a')], NOW);
    queue.pack(NOW);
    expect(queue.pack(NOW + 71 * HOUR)).toBeDefined();
    expect(queue.pack(NOW + 73 * HOUR)).toBeUndefined();
    queue.add([cause('b')], NOW + 73 * HOUR);
    expect(queue.pack(NOW + 73 * HOUR)).toMatchObject({ dropped: 1, alerts: [{ text: 'b' }] });
  });
});

describe('the file', () => {
  it('has what waits, is private, and is not written while nothing changes', async () => {
    const file = newFile();
    const queue = openAlertQueue(file);
    queue.add([cause('a')], NOW);
    queue.pack(NOW);
    await queue.save();
    expect(openAlertQueue(file).delivery).toEqual(queue.delivery);
    writeFileSync(file, 'changed by nobody');
    queue.add([cause('a')], NOW + 1000);
    await queue.save();
    expect(readFileSync(file, 'utf8')).toBe('changed by nobody');
  });

  it.each(['', '[]', '{"delivery":{"id":1},"waiting":[{}],"told":[1]}', 'remember the milk'])(
    'counts as empty when it cannot be read: %j',
    (text) => {
      const file = newFile();
      writeFileSync(file, text);
      const queue = openAlertQueue(file);
      expect(queue.count()).toBe(0);
      queue.add([cause('a')], NOW);
      expect(take(queue, NOW)).toEqual(['a']);
    },
  );
});
