import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';

interface Properties {
  count: number;
  rowHeight: number;
  label: string;
  row: (index: number) => ComponentChildren;
  onRange?: (first: number, last: number) => void;
}

const AROUND = 8; // additional rows above and below the visible ones
const TALLEST = 8_000_000; // pixels; browsers lose precision beyond that

// A list that renders only the visible rows. All rows have the same height.
export function VirtualList({ count, rowHeight, label, row, onRange }: Properties) {
  const box = useRef<HTMLDivElement>(null);
  const [position, setPosition] = useState({ top: 0, height: 600 });
  useEffect(() => {
    const element = box.current!;
    const measure = () => setPosition({ top: element.scrollTop, height: element.clientHeight });
    measure();
    element.addEventListener('scroll', measure, { passive: true });
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    return () => {
      element.removeEventListener('scroll', measure);
      observer.disconnect();
    };
  }, []);
  const height = Math.min(count * rowHeight, TALLEST);
  // If the rows are taller than TALLEST, scroll positions are scaled.
  const scale = height > 0 ? (count * rowHeight) / height : 1;
  const top = Math.min(position.top, Math.max(0, height - position.height));
  const first = Math.max(0, Math.floor((top * scale) / rowHeight) - AROUND);
  const last = Math.min(count, Math.ceil((top * scale + position.height) / rowHeight) + AROUND);
  useEffect(() => onRange?.(first, last), [first, last, onRange]);
  const rows = [];
  for (let index = first; index < last; index += 1) {
    rows.push(
      <div key={index} class="virtual-row" role="listitem" aria-setsize={count} aria-posinset={index + 1}
        style={{ transform: `translateY(${index * rowHeight - top * scale + top}px)`, height: `${rowHeight}px` }}>
        {row(index)}
      </div>
    );
  }
  return (
    <div class="virtual" ref={box} tabIndex={0} role="region" aria-label={label}
      style={{ height: `${Math.min(count * rowHeight + 2, 20 * rowHeight)}px` }}>
      <div class="virtual-all" role="list" aria-label={label} style={{ height: `${height}px` }}>{rows}</div>
    </div>
  );
}
