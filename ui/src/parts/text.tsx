import { useState } from 'preact/hooks';
import { LONGEST, pieces, shortened } from '../shown/text.ts';

const shown = (text: string) => pieces(text).map((piece) => (piece.unseen ? <span class="unseen" title="a character that cannot be seen">{piece.text}</span> : piece.text));

// Text that a stranger wrote. It is never interpreted, and nothing in it stays invisible.
export function Stranger({ text }: { text: string }) {
  return <>{shown(shortened(text))}</>;
}

// The same where somebody may have to read all of it.
export function LongStranger({ text }: { text: string }) {
  const [whole, setWhole] = useState(false);
  if (whole || text.length <= LONGEST) return <>{shown(text)}</>;
  return <>{shown(text.slice(0, LONGEST))}… <button type="button" onClick={() => setWhole(true)}>Show all {text.length.toLocaleString('en')} characters</button></>;
}
