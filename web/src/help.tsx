import { Dialog } from './parts/dialog.tsx';

const KEYS: readonly (readonly [keys: string, what: string])[] = [
  ['j  k', 'next and previous row'],
  ['Enter', 'open the row'],
  ['a', 'keep the lesson that waits'],
  ['r', 'drop the lesson that waits'],
  ['/', 'search'],
  ['g h', 'Home'],
  ['g s', 'Sessions'],
  ['g l', 'Lessons'],
  ['t', 'dark or light'],
  ['?', 'this list'],
  ['Esc', 'close'],
];

export const Help = ({ onClose }: { readonly onClose: () => void }) => (
  <Dialog title="Keys" onClose={onClose}>
    <dl class="keys">
      {KEYS.map(([keys, what]) => (
        <div key={keys}>
          <dt>
            {keys.split(/\s+/).map((key) => (
              <kbd key={key}>{key}</kbd>
            ))}
          </dt>
          <dd>{what}</dd>
        </div>
      ))}
    </dl>
  </Dialog>
);
