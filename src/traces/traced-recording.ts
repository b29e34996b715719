import type { Config } from '../config/schema.ts';
import { readTraceHeaders } from '../config/trace-headers.ts';
import type { Library } from '../core/library.ts';
import { openRecording, withAppendListener } from '../record/open-recording.ts';
import { serveTraces } from './serve-traces.ts';

type Recording = ReturnType<typeof openRecording>;

interface TracedRecording extends Recording {
  /** The text of `GET /metrics`: these metrics and those of traces, redacted. */
  metricsWith(texts: readonly (() => string | Promise<string>)[]): Promise<string>;
}

/** The record, and what happens in it as traces for the receiver that the settings name. Without one it is the record alone. */
export function openTracedRecording(
  options: Parameters<typeof openRecording>[0] & { readonly place: string },
  config: Config,
  env: NodeJS.ProcessEnv,
  library: () => Pick<Library, 'lesson'> | undefined,
): TracedRecording {
  const recording = openRecording(options);
  const { redactor } = recording;
  const traces = serveTraces({
    settings: () => config.traces,
    headers: (settings) => readTraceHeaders(settings, env),
    place: options.place,
    nameOf: (id) => {
      const lesson = library()?.lesson(id);
      return lesson && redactor.redactName(lesson.text.name);
    },
    log: options.log,
  });
  return {
    ...recording,
    recorder: traces.recorder(recording.recorder),
    records: withAppendListener(recording.records, traces.appended),
    metricsWith: async (texts) => {
      const all = await Promise.all([...texts, traces.text].map((text) => text()));
      return redactor.redactText(all.join('\n'));
    },
    close: async () => {
      // Before the record: what waits is read from it.
      await traces.close();
      await recording.close();
    },
  };
}
