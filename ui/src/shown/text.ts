// Text from upstreams, written so that a person sees all of it: what controls, reorders or hides text is replaced by its code.

const UNSEEN = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\u{e0000}-\u{e007f}]/u;

export interface Piece { text: string; unseen: boolean }

const code = (character: string) => `U+${character.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0')}`;

export function pieces(text: string): Piece[] {
  const out: Piece[] = [];
  let plain = '';
  for (const character of text.replaceAll('\r\n', '\n')) {
    if (!UNSEEN.test(character)) {
      plain += character;
      continue;
    }
    if (plain) out.push({ text: plain, unseen: false });
    plain = '';
    out.push({ text: code(character), unseen: true });
  }
  if (plain) out.push({ text: plain, unseen: false });
  return out;
}

// For attributes and titles, which hold no elements.
export function visible(text: string): string {
  return pieces(text).map((piece) => (piece.unseen ? `⟨${piece.text}⟩` : piece.text)).join('');
}

export function count(number: number, one: string, many = `${one}s`): string {
  return `${number.toLocaleString('en')} ${number === 1 ? one : many}`;
}
