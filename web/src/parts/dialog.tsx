import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';

interface DialogProps {
  readonly title: string;
  readonly onClose: () => void;
  readonly children: ComponentChildren;
}

/** A modal dialog of the browser: it keeps the focus inside and closes with Escape. */
export function Dialog({ title, onClose, children }: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    dialog.current?.showModal();
  }, []);
  return (
    <dialog ref={dialog} class="dialog" aria-label={title} onClose={onClose}>
      <div class="dialog-head">
        <h2>{title}</h2>
        <button type="button" class="quiet" onClick={() => dialog.current?.close()}>
          Close
        </button>
      </div>
      {children}
    </dialog>
  );
}

interface ConfirmProps {
  readonly title: string;
  readonly act: string;
  readonly isDangerous?: boolean;
  readonly onAct: () => void;
  readonly onClose: () => void;
  readonly children: ComponentChildren;
}

/** Asks before something that cannot be undone, or that concerns much. */
export function Confirm({ title, act, isDangerous, onAct, onClose, children }: ConfirmProps) {
  return (
    <Dialog title={title} onClose={onClose}>
      <div class="dialog-body">{children}</div>
      <div class="actions">
        <button
          type="button"
          class={isDangerous === true ? 'danger' : 'primary'}
          onClick={() => {
            onClose();
            onAct();
          }}
        >
          {act}
        </button>
        <button type="button" onClick={onClose}>
          Cancel
        </button>
      </div>
    </Dialog>
  );
}
