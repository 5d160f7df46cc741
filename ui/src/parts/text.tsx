import { useState } from 'preact/hooks';
import { LONGEST, pieces, shortened } from '../presentation/text.ts';

const shown = (text: string) => pieces(text).map((piece) => (piece.unseen ? <span class="unseen" title="an invisible character">{piece.text}</span> : piece.text));

// Shows untrusted text. It is never interpreted as HTML, and invisible characters are shown as their codes.
export function UntrustedText({ text }: { text: string }) {
  return <>{shown(shortened(text))}</>;
}

// Like `UntrustedText`, but with a button that shows all of a long text.
export function LongUntrustedText({ text }: { text: string }) {
  const [whole, setWhole] = useState(false);
  if (whole || text.length <= LONGEST) return <>{shown(text)}</>;
  return <>{shown(text.slice(0, LONGEST))}… <button type="button" onClick={() => setWhole(true)}>Show all {text.length.toLocaleString('en')} characters</button></>;
}
