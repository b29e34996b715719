import type { RunTool, ToolEnd } from '../../../src/schedule/idle/idle-readers.ts';

/** As printed by the tools of each platform, shortened in the middle. */
const IOREG = `+-o Root  <class IORegistryEntry, id 0x100000100, retain 29>
  +-o J314sAP  <class IOPlatformExpertDevice, id 0x100000212, registered, matched, active, busy 0 (186043 ms), retain 40>
    +-o IOResources  <class IOResources, id 0x100000214, registered, matched, active, busy 0 (1342 ms), retain 135>
      +-o IOHIDSystem  <class IOHIDSystem, id 0x1000006d7, registered, matched, active, busy 0 (2 ms), retain 24>
          {
            "IOProviderClass" = "IOResources"
            "HIDServiceSupport" = Yes
            "EvStateVersion" = 0
            "HIDParameters" = {"HIDClickTime"=500000000,"HIDIdleTime"=IDLE_NS,"HIDKeyRepeat"=33333333,"HIDScrollZoomModifierMask"=262144}
            "HIDIdleTime" = IDLE_NS
            "IOMatchCategory" = "IOHIDSystem"
            "IOProbeScore" = 0
          }
`;
export const ioregWith = (ns: number | string): string => IOREG.replaceAll('IDLE_NS', String(ns));

export const gdbusWith = (ms: number | string): string => `(uint64 ${ms},)\n`;

export const loginctlWith = (given: {
  type?: string;
  idle?: string;
  locked?: string;
  since?: number | string;
  sinceMonotonic?: number | string;
}): string =>
  [
    `Type=${given.type ?? 'wayland'}`,
    `IdleHint=${given.idle ?? 'no'}`,
    `IdleSinceHint=${given.since ?? 0}`,
    `IdleSinceHintMonotonic=${given.sinceMonotonic ?? 0}`,
    `LockedHint=${given.locked ?? 'no'}`,
    '',
  ].join('\n');

/** Answers by the program's name, and keeps what it was asked. */
export function createRecordedTools(answers: Readonly<Record<string, () => ToolEnd | string>>): {
  run: RunTool;
  asked: { file: string; args: readonly string[]; env: Readonly<Record<string, string>> }[];
} {
  const asked: { file: string; args: readonly string[]; env: Readonly<Record<string, string>> }[] = [];
  return {
    asked,
    run: async ({ file, args, env }) => {
      asked.push({ file, args, env });
      const answer = answers[file.slice(file.lastIndexOf('/') + 1)]?.() ?? { kind: 'missing' };
      return typeof answer === 'string' ? { kind: 'exit', code: 0, stdout: answer } : answer;
    },
  };
}
