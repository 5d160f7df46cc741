import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { visible } from '../presentation/text.ts';

interface Properties { title: string; onClose: () => void; children: ComponentChildren; fixed?: boolean }

// A modal dialog, which keeps the keyboard focus. Escape closes it unless it is `fixed`.
export function Dialog({ title, onClose, children, fixed }: Properties) {
  const element = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const dialog = element.current!;
    if (!dialog.open) dialog.showModal();
  }, []);
  return (
    <dialog ref={element} aria-label={visible(title)} onClose={onClose} onCancel={(event) => { if (fixed) event.preventDefault(); }}>
      <h2>{visible(title)}</h2>
      {children}
    </dialog>
  );
}

interface Question { title: string; text: ComponentChildren; details?: ComponentChildren; action: string; tone?: 'bad'; onDone: (confirmed: boolean) => void }

export function Confirm({ title, text, details, action, tone, onDone }: Question) {
  return (
    <Dialog title={title} onClose={() => onDone(false)}>
      <p>{text}</p>
      {details}
      <div class="actions">
        <button type="button" onClick={() => onDone(false)}>Cancel</button>
        <button type="button" class={tone === 'bad' ? 'danger' : 'primary'} onClick={() => onDone(true)}>{action}</button>
      </div>
    </Dialog>
  );
}
