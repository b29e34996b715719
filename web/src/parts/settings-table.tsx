import { useState } from 'preact/hooks';
import { plural } from '../../../src/text/phrases.ts';
import { act } from '../lib/act.ts';
import type { Settings } from '../lib/api-shapes.ts';
import { setQuery } from '../lib/route.ts';
import { Dialog } from './dialog.tsx';
import { SearchField } from './search-field.tsx';
import { Table } from './table.tsx';
import { Text } from './text.tsx';
import { Section, Tag } from './view.tsx';

type Setting = Settings['settings'][number];

interface SettingsTableProps {
  readonly settings: Settings;
  readonly search: string | undefined;
  readonly onDone: () => void;
}

const shownValue = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));

/** Every setting with its value and where that comes from. Those that were set come first. */
export function SettingsTable({ settings: { file, settings, problem }, search, onDone }: SettingsTableProps) {
  const [edited, setEdited] = useState<Setting>();
  const [isAll, setAll] = useState(false);
  const word = search?.toLowerCase() ?? '';
  const matching = settings.filter(
    ({ path, description = '' }) =>
      path.toLowerCase().includes(word) || description.toLowerCase().includes(word),
  );
  const isShort = !isAll && word === '';
  const shown = isShort ? matching.filter(({ from }) => from !== 'default') : matching;
  return (
    <Section title="Settings" note={<code>{file}</code>}>
      {problem !== undefined && <p class="bad">{problem}</p>}
      <div class="filters">
        <SearchField label="Search settings" value={search} onChange={(value) => setQuery({ q: value })} />
        <button type="button" class="quiet" aria-pressed={isAll} onClick={() => setAll(!isAll)}>
          All {plural(settings.length, 'setting')}
        </button>
      </div>
      {shown.length === 0 ? (
        <p class="dim">{isShort ? 'Every setting has its default.' : 'No setting fits.'}</p>
      ) : (
        <SettingRows settings={shown} onEdit={setEdited} />
      )}
      {edited !== undefined && (
        <SettingDialog
          setting={edited}
          onClose={() => setEdited(undefined)}
          onDone={() => {
            setEdited(undefined);
            onDone();
          }}
        />
      )}
    </Section>
  );
}

interface SettingRowsProps {
  readonly settings: readonly Setting[];
  readonly onEdit: (setting: Setting) => void;
}

const SettingRows = ({ settings, onEdit }: SettingRowsProps) => (
  <Table
    label="Settings"
    rows={settings}
    keyOf={({ path }) => path}
    columns={[
      {
        head: 'Setting',
        is: 'setting',
        cell: ({ path, description }) => (
          <>
            <code>{path}</code>
            {description !== undefined && <p class="dim small">{description}</p>}
          </>
        ),
      },
      {
        head: 'Value',
        is: 'fill',
        cell: ({ value, inForce }) => (
          <span class="mono">
            <Text>{shownValue(value)}</Text>
            {inForce !== undefined && (
              <>
                {' '}
                <Tag tone="warn">after a restart; now {shownValue(inForce)}</Tag>
              </>
            )}
          </span>
        ),
      },
      { head: 'From', is: 'tight wide', cell: ({ from }) => from },
      {
        head: 'Action',
        is: 'tight bare',
        cell: (setting) => (
          <button
            type="button"
            class="quiet"
            aria-label={`Change ${setting.path}`}
            onClick={() => onEdit(setting)}
          >
            Change
          </button>
        ),
      },
    ]}
  />
);

interface SettingDialogProps {
  readonly setting: Setting;
  readonly onClose: () => void;
  readonly onDone: () => void;
}

function SettingDialog({ setting: { path, value, from }, onClose, onDone }: SettingDialogProps) {
  const [typed, setTyped] = useState(shownValue(value));
  const send = async (body: object, done: string): Promise<void> => {
    const answer = await act('/api/config', { body, done });
    if (answer !== undefined) onDone();
  };
  return (
    <Dialog title={path} onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void send({ path, value: parseValue(typed, value) }, `${path} is set.`);
        }}
      >
        <label class="field dialog-body">
          <span>Value</span>
          <textarea
            class="mono"
            rows={3}
            value={typed}
            onInput={(event) => setTyped(event.currentTarget.value)}
          />
        </label>
        <div class="actions">
          <button type="submit" class="primary">
            Save
          </button>
          {from !== 'default' && (
            <button
              type="button"
              onClick={() => send({ path, unset: true }, `${path} has its default again.`)}
            >
              Back to the default
            </button>
          )}
        </div>
      </form>
    </Dialog>
  );
}

/** A text stays a text; anything else is read as JSON, and as text where it is none. */
function parseValue(typed: string, before: unknown): unknown {
  if (typeof before === 'string') return typed;
  try {
    return JSON.parse(typed);
  } catch {
    return typed;
  }
}
