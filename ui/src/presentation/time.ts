const UNITS: [Intl.RelativeTimeFormatUnit, number][] = [['day', 86400], ['hour', 3600], ['minute', 60], ['second', 1]];
const relative = new Intl.RelativeTimeFormat('en', { numeric: 'auto' });

// Returns text such as "3 minutes ago". An invalid date is returned unchanged.
export function ago(date: string | null | undefined, now: number): string {
  if (!date) return 'never';
  const at = Date.parse(date);
  if (Number.isNaN(at)) return date;
  const seconds = Math.round((at - now) / 1000);
  if (Math.abs(seconds) < 5) return 'just now';
  for (const [unit, size] of UNITS) {
    if (Math.abs(seconds) >= size) return relative.format(Math.trunc(seconds / size), unit);
  }
  return 'just now';
}

export function moment(date: string): string {
  const at = new Date(date);
  return Number.isNaN(at.getTime()) ? date : at.toLocaleString('en', { dateStyle: 'medium', timeStyle: 'medium' });
}
