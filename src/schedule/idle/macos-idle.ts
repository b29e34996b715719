import { ask, type IdleReader, idleFromDigits, type ToolBox, unknown } from './idle-reader.ts';

const NANOSECONDS_PER_MS = 1e6;
const MOST_ENTRIES = 16;

/** macOS: the time since the last event of a keyboard, mouse or trackpad. */
export function createMacosIdle(box: ToolBox): IdleReader {
  return {
    name: 'macos',
    sees: 'Keyboard, mouse and trackpad of this Mac; not someone who is logged in over ssh or reads without touching anything.',
    async read(_now, signal) {
      const answer = await ask(
        box,
        { file: '/usr/sbin/ioreg', args: ['-c', 'IOHIDSystem', '-d', '4'] },
        signal,
      );
      if ('why' in answer) return unknown(answer.why);
      const found = [...answer.said.matchAll(/"HIDIdleTime" ?= ?([^\s,}]{1,40})/g)].slice(0, MOST_ENTRIES);
      if (found.length === 0) return unknown('ioreg knows no input device');
      const readings = found.map((match) => idleFromDigits(match[1], NANOSECONDS_PER_MS, 'ioreg'));
      // With several devices the last input is that of the one touched last; one that cannot be read spoils all.
      return readings.reduce((least, one) =>
        one.kind !== 'idle' || (least.kind === 'idle' && one.ms < least.ms) ? one : least,
      );
    },
  };
}
