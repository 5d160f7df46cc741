import { pieces } from '../shown/text.ts';

// Text that a stranger wrote. It is never interpreted, and nothing in it stays invisible.
export function Stranger({ text }: { text: string }) {
  return <>{pieces(text).map((piece) => (piece.unseen ? <span class="unseen" title="a character that cannot be seen">{piece.text}</span> : piece.text))}</>;
}
