import { readFileSync } from 'node:fs';
import { uptime } from 'node:os';
import type { BootClock } from '../core/clock.ts';

const BOOT_ID = '/proc/sys/kernel/random/boot_id';

/** `os.uptime` includes sleep on Linux, macOS and Windows; `performance.now` does not, and a laptop sleeps for days. */
export const systemBoot: BootClock = { boot: readBootId, uptime: () => uptime() * 1000 };

function readBootId(): string | undefined {
  try {
    return readFileSync(BOOT_ID, 'utf8').trim() || undefined;
  } catch {
    // Only Linux has one.
    return undefined;
  }
}
