/** What every report begins with, whatever was run. */
export interface Headed {
  readonly head: {
    readonly run: string;
    readonly suite: string;
    readonly options: Readonly<Record<string, string | number | boolean>>;
    readonly policy: string;
    readonly startedAt: string;
    readonly version: string;
  };
  readonly remarks: readonly string[];
}
