import { useEffect, useRef, useState } from 'preact/hooks';
import type { Line } from '../presentation/figures.ts';
import { UntrustedText } from './text.tsx';

interface Properties { title: string; summary: string; times: number[]; series: Line[] }

const HEIGHT = 160;

// Lines over time. The drawing library is loaded when the first chart is shown.
export function Chart({ title, summary, times, series }: Properties) {
  const box = useRef<HTMLDivElement>(null);
  const [plot, setPlot] = useState<typeof import('./plot.ts')>();
  useEffect(() => void import('./plot.ts').then(setPlot, () => {}), []);
  useEffect(() => {
    const element = box.current;
    if (!plot || !element || times.length < 2) return undefined;
    return plot.draw(element, HEIGHT, times, series);
  }, [plot, times, series]);
  return (
    <figure class="chart">
      <figcaption>{title}<span class="legend">{series.map((one) => <span class={one.tone} key={one.label}><span aria-hidden="true">{one.tone === 'bad' ? '┅' : '━'}</span> {one.label}</span>)}</span></figcaption>
      <div ref={box} class="plot" role="img" aria-label={`${title}. ${summary}`} />
      <p class="quiet"><UntrustedText text={times.length < 2 ? 'No data yet: the gateway reads its counters every ten seconds.' : summary} /></p>
    </figure>
  );
}
