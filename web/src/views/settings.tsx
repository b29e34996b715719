import { useState } from 'preact/hooks';
import { plural } from '../../../src/text/phrases.ts';
import { act } from '../lib/act.ts';
import type { Key, Settings, Setup, Status } from '../lib/api-shapes.ts';
import { useResource } from '../lib/resource.ts';
import { linkTo, type ViewRoute } from '../lib/route.ts';
import { Command, CopyButton } from '../parts/command.tsx';
import { Confirm, Dialog } from '../parts/dialog.tsx';
import { SettingsTable } from '../parts/settings-table.tsx';
import { Empty, Loaded } from '../parts/states.tsx';
import { Table } from '../parts/table.tsx';
import { Text } from '../parts/text.tsx';
import { Ago } from '../parts/time.tsx';
import { Section, Tag, View } from '../parts/view.tsx';

/** Connect a client, and everything that can be set. */
export function SettingsView({ route }: ViewRoute) {
  const setup = useResource<Setup>('/api/page/setup', { on: ['turn'] });
  const status = useResource<Status>('/api/status', { on: ['learning'] });
  const keys = useResource<readonly Key[]>('/api/keys');
  const settings = useResource<Settings>('/api/config');
  return (
    <View title="Settings">
      <Loaded of={setup}>{(value) => <Clients setup={value} />}</Loaded>
      <Loaded of={status}>
        {(value) => (
          <>
            <Learning status={value} onDone={status.reload} />
            <Providers status={value} />
          </>
        )}
      </Loaded>
      <Loaded of={keys}>{(value) => <Keys keys={value} onDone={keys.reload} />}</Loaded>
      <Loaded of={settings}>
        {(value) => <SettingsTable settings={value} search={route.query.q} onDone={settings.reload} />}
      </Loaded>
      <YourData home={setup.value?.home} />
    </View>
  );
}

function Clients({ setup: { clients, url } }: { readonly setup: Setup }) {
  return (
    <Section title="Connect a client" note={<code>{url}</code>}>
      <Table
        label="Clients"
        rows={clients}
        keyOf={({ name }) => name}
        columns={[
          {
            head: 'Client, and what to run in a terminal',
            is: 'fill',
            cell: ({ name, title, connect }) => (
              <div class="client">
                <span>{title ?? name}</span>
                <Command>{connect}</Command>
              </div>
            ),
          },
          { head: 'First request', is: 'tight', cell: ({ name, seen }) => <Seen name={name} seen={seen} /> },
          {
            head: 'Undo',
            is: 'tight wide',
            cell: ({ undo }) => <CopyButton text={undo} label="Copy undo" />,
          },
        ]}
      />
    </Section>
  );
}

function Seen({ name, seen }: { readonly name: string; readonly seen: Setup['clients'][number]['seen'] }) {
  if (seen === undefined) return <span class="dim">not seen yet</span>;
  return (
    <a href={linkTo(['sessions'], { client: name })}>
      <span class="good" aria-hidden="true">
        ✓{' '}
      </span>
      <span class="wide">{plural(seen.sessions, 'session')}, </span>
      <Ago at={seen.lastAt} />
    </a>
  );
}

function Learning({ status, onDone }: { readonly status: Status; readonly onDone: () => void }) {
  const isOn = status.learning.on !== false;
  const change = async (): Promise<void> => {
    await act('/api/learning', { body: { on: !isOn }, done: isOn ? 'Learning is off.' : 'Learning is on.' });
    onDone();
  };
  return (
    <Section
      title="Learning"
      actions={
        <button
          type="button"
          role="switch"
          aria-checked={isOn}
          class={isOn ? undefined : 'primary'}
          onClick={change}
        >
          {isOn ? 'Turn learning off' : 'Turn learning on'}
        </button>
      }
    >
      <p>
        Learning is <Tag tone={isOn ? 'good' : 'warn'}>{isOn ? 'on' : 'off'}</Tag>.{' '}
        {isOn
          ? 'Sessions are read, and lessons are drawn from them.'
          : 'Requests are served and recorded, lessons in use are shown, and nothing new is learned.'}
      </p>
      <p class="dim">
        To keep one conversation out of the record altogether, let the client send the header{' '}
        <code>x-instar-record: off</code> <CopyButton text="x-instar-record: off" />: it is served, not
        recorded, and not learned from.
      </p>
    </Section>
  );
}

const Providers = ({ status: { providers } }: { readonly status: Status }) => (
  <Section title="Providers">
    {providers.length === 0 ? (
      <Empty title="No provider is configured." command="instar init">
        The small model instar/nano answers meanwhile: it is for trying things out. Guided set-up:
      </Empty>
    ) : (
      <Table
        label="Providers"
        rows={providers}
        keyOf={({ name }) => name}
        columns={[
          { head: 'Name', is: 'tight', cell: ({ name }) => <Text>{name}</Text> },
          { head: 'Address', cell: ({ baseUrl }) => <code>{baseUrl ?? '–'}</code> },
          { head: 'Speaks', is: 'tight wide', cell: ({ wires }) => wires.join(', ') },
          {
            head: 'Models',
            is: 'fill wide',
            cell: ({ models, credentials }) => (
              <>
                <Text>{models.slice(0, 6).join(', ')}</Text>
                {models.length > 6 && ` and ${models.length - 6} more`}
                {models.length === 0 && <span class="dim">any</span>}
                {credentials === 'caller' && <span class="dim"> uses each client's own API key</span>}
              </>
            ),
          },
        ]}
      />
    )}
  </Section>
);

interface KeyTableProps {
  readonly keys: readonly Key[];
  readonly onRevoke: (key: Key) => void;
}

const KeyTable = ({ keys, onRevoke }: KeyTableProps) => (
  <Table
    label="Caller keys"
    rows={keys}
    keyOf={({ id }) => id}
    columns={[
      { head: 'Name', is: 'tight', cell: (key) => <Text>{key.name}</Text> },
      { head: 'May', is: 'fill', cell: ({ may }) => may.join(', ') },
      {
        head: 'Limits',
        is: 'wide',
        cell: ({ limits = [], fallback }) =>
          `${limits.map(({ words }) => words).join('; ')}${fallback === undefined ? '' : `, then ${fallback}`}`,
      },
      { head: 'Made', is: 'tight wide', cell: ({ createdAt }) => <Ago at={createdAt} /> },
      {
        head: 'Action',
        is: 'tight bare',
        cell: (key) =>
          key.isMember === true ? (
            <span class="dim">member</span>
          ) : key.revokedAt === undefined ? (
            <button
              type="button"
              class="quiet"
              aria-label={`Revoke ${key.name}`}
              onClick={() => onRevoke(key)}
            >
              Revoke
            </button>
          ) : (
            <span class="dim">revoked</span>
          ),
      },
    ]}
  />
);

function Keys({ keys, onDone }: { readonly keys: readonly Key[]; readonly onDone: () => void }) {
  const [name, setName] = useState('');
  const [made, setMade] = useState<{ readonly name: string; readonly key: string }>();
  const [revoked, setRevoked] = useState<Key>();
  const create = async (): Promise<void> => {
    const key = await act<{ readonly name: string; readonly key: string }>('/api/keys', {
      body: { name: name.trim() },
      done: 'The key is made. It is shown once.',
    });
    if (key === undefined) return;
    setMade(key);
    setName('');
    onDone();
  };
  const revoke = async (key: Key): Promise<void> => {
    await act(`/api/keys/${encodeURIComponent(key.id)}`, { method: 'DELETE', done: `Revoked ${key.name}.` });
    onDone();
  };
  return (
    <Section title="Caller keys" note="one for each client; the owner's key is not among them">
      <KeyTable keys={keys} onRevoke={setRevoked} />
      <form
        class="filters new-key"
        onSubmit={(event) => {
          event.preventDefault();
          void create();
        }}
      >
        <input
          aria-label="Name of a new key"
          placeholder="Name of a new key"
          value={name}
          required
          maxLength={64}
          onInput={(event) => setName(event.currentTarget.value)}
        />
        <button type="submit">Make a key</button>
      </form>
      {made !== undefined && (
        <Dialog title={`The key of ${made.name}`} onClose={() => setMade(undefined)}>
          <p>It is shown this once. Give it to the client; a new key of the same name replaces it.</p>
          <p>
            <Command>{made.key}</Command>
          </p>
        </Dialog>
      )}
      {revoked !== undefined && (
        <Confirm
          title={`Revoke ${revoked.name}?`}
          act="Revoke"
          isDangerous
          onAct={() => revoke(revoked)}
          onClose={() => setRevoked(undefined)}
        >
          <p>Clients that use this key are refused from now on.</p>
        </Confirm>
      )}
    </Section>
  );
}

const YourData = ({ home }: { readonly home: string | undefined }) => (
  <Section title="Your data" note={home === undefined ? undefined : <code>{home}</code>}>
    <ul class="plain-list">
      <li>
        <p class="dim">Lessons as SKILL.md folders</p>
        <Command>instar data export skills FOLDER</Command>
      </li>
      <li>
        <p class="dim">Everything recorded, as JSON lines</p>
        <Command>instar data export trajectories --out FILE</Command>
      </li>
      <li>
        <p class="dim">A copy of the record, to keep elsewhere</p>
        <Command>instar data backup FILE</Command>
      </li>
    </ul>
  </Section>
);
